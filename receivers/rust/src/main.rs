//! Receives webhooks. cargo run, with WEBHOOK_SECRETS: the signing secrets, separated by spaces.

// #region verify
use base64::{engine::general_purpose::STANDARD, Engine};
// #endregion
use std::collections::HashSet;
use std::io::Read;
// #region verify
use std::time::{SystemTime, UNIX_EPOCH};
// #endregion
use tiny_http::{Request, Response, Server};

const MAX_BODY_BYTES: u64 = 2 * 1024 * 1024;
// #region verify
const MAX_AGE_S: u64 = 300;

fn key_of(secret: &str) -> Vec<u8> {
    match secret.strip_prefix("whsec_") {
        Some(encoded) => STANDARD.decode(encoded).expect("WEBHOOK_SECRETS has a secret that is not base64"),
        None => secret.as_bytes().to_vec(),
    }
}
// #endregion

// #region verify
fn header<'a>(request: &'a Request, name: &'static str) -> &'a str {
    let found = request.headers().iter().find(|one| one.field.equiv(name));
    found.map_or("", |one| one.value.as_str())
}
// #endregion

// #region verify
/// Takes the raw bytes. One matching signature of any secret is enough: so a rotation leaves no gap.
fn is_signed(keys: &[Vec<u8>], request: &Request, body: &[u8]) -> bool {
    let timestamp = header(request, "webhook-timestamp");
    let Ok(seconds) = timestamp.parse::<u64>() else { return false };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970").as_secs();
    if now.abs_diff(seconds) > MAX_AGE_S {
        return false;
    }
    keys.iter().any(|key| {
        let mut signed = format!("{}.{timestamp}.", header(request, "webhook-id")).into_bytes();
        signed.extend_from_slice(body);
        header(request, "webhook-signature")
            .split(' ')
            .filter_map(|given| STANDARD.decode(given.strip_prefix("v1,")?).ok())
            .filter_map(|given| <[u8; 32]>::try_from(given).ok())
            // Compares in constant time.
            .any(|given| hmac_sha256::HMAC::verify(&signed, key, &given))
    })
}
// #endregion

fn receive(keys: &[Vec<u8>], done: &mut HashSet<String>, request: &mut Request) -> u16 {
    let mut body = Vec::new();
    if request.as_reader().take(MAX_BODY_BYTES + 1).read_to_end(&mut body).is_err() {
        return 400;
    }
    if body.len() as u64 > MAX_BODY_BYTES {
        return 413;
    }
    if !is_signed(keys, request, &body) {
        return 401;
    }
    let Ok(event) = serde_json::from_slice::<serde_json::Value>(&body) else { return 400 };
    let id = header(request, "webhook-id").to_owned();
    if done.insert(id.clone()) {
        println!("accepted {id} {}", event["event"].as_str().unwrap_or_default());
    }
    204
}

fn main() {
    // #region verify
    let secrets = std::env::var("WEBHOOK_SECRETS").unwrap_or_default();
    let keys: Vec<Vec<u8>> = secrets.split_whitespace().map(key_of).collect();
    // #endregion
    // In an application: a table, written in the transaction of the work.
    let mut done = HashSet::new();
    let port = std::env::var("PORT").unwrap_or_else(|_| "8000".to_owned());
    let server = Server::http(format!("127.0.0.1:{port}")).expect("a free port");
    for mut request in server.incoming_requests() {
        let status = receive(&keys, &mut done, &mut request);
        // A caller that hung up needs no answer.
        let _ = request.respond(Response::empty(status));
    }
}
