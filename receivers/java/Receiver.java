import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
// #region verify
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
// #endregion
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
// #region verify
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import static java.nio.charset.StandardCharsets.UTF_8;
// #endregion

/** Receives webhooks. java Receiver.java, with WEBHOOK_SECRETS: the signing secrets, separated by spaces. */
public class Receiver {
    private static final int MAX_BODY_BYTES = 2 * 1024 * 1024;
    // #region verify
    private static final long MAX_AGE_S = 300;
    private static final List<byte[]> KEYS = Stream.of(setting("WEBHOOK_SECRETS", "").split(" "))
            .filter(secret -> !secret.isEmpty()).map(Receiver::keyOf).toList();
    // #endregion
    /** In an application: a table, written in the transaction of the work. */
    private static final Set<String> DONE = ConcurrentHashMap.newKeySet();

    // #region verify
    private static String setting(String name, String otherwise) {
        return System.getenv().getOrDefault(name, otherwise);
    }
    // #endregion

    // #region verify
    private static byte[] keyOf(String secret) {
        return secret.startsWith("whsec_") ? Base64.getDecoder().decode(secret.substring(6)) : secret.getBytes(UTF_8);
    }
    // #endregion

    // #region verify
    private static String header(Headers headers, String name) {
        String value = headers.getFirst(name);
        return value == null ? "" : value;
    }
    // #endregion

    // #region verify
    /** Takes the raw bytes. One matching signature of any secret is enough: so a rotation leaves no gap. */
    private static boolean isSigned(Headers headers, byte[] body) throws GeneralSecurityException {
        String timestamp = header(headers, "webhook-timestamp");
        if (!timestamp.matches("[0-9]{1,12}")) return false;
        if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > MAX_AGE_S) return false;
        for (byte[] key : KEYS) {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            mac.update((header(headers, "webhook-id") + "." + timestamp + ".").getBytes(UTF_8));
            byte[] wanted = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(UTF_8);
            for (String given : header(headers, "webhook-signature").split(" ")) {
                if (MessageDigest.isEqual(wanted, given.getBytes(UTF_8))) return true;
            }
        }
        return false;
    }
    // #endregion

    private static int receive(HttpExchange exchange) throws IOException, GeneralSecurityException {
        byte[] body = exchange.getRequestBody().readNBytes(MAX_BODY_BYTES + 1);
        if (body.length > MAX_BODY_BYTES) return 413;
        if (!isSigned(exchange.getRequestHeaders(), body)) return 401;
        String id = header(exchange.getRequestHeaders(), "webhook-id");
        // Parse the body here, with the JSON library of your application.
        if (DONE.add(id)) System.out.println("accepted " + id);
        return 204;
    }

    public static void main(String[] arguments) throws IOException {
        InetAddress local = InetAddress.getByName("127.0.0.1");
        int port = Integer.parseInt(setting("PORT", "8000"));
        HttpServer server = HttpServer.create(new InetSocketAddress(local, port), 0);
        server.createContext("/", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(receive(exchange), -1);
            } catch (GeneralSecurityException error) {
                throw new IOException(error);
            }
        });
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
    }
}
