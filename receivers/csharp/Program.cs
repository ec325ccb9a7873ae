// Receives webhooks. dotnet run, with WEBHOOK_SECRETS: the signing secrets, separated by spaces.
using System.Collections.Concurrent;
#region verify
using System.Security.Cryptography;
using System.Text;
#endregion
using System.Text.Json;
#region verify
using System.Text.RegularExpressions;
#endregion

const int MaxBodyBytes = 2 * 1024 * 1024;
#region verify
const long MaxAgeS = 300;

var keys = (Environment.GetEnvironmentVariable("WEBHOOK_SECRETS") ?? "")
    .Split(' ', StringSplitOptions.RemoveEmptyEntries)
    .Select(secret => secret.StartsWith("whsec_") ? Convert.FromBase64String(secret[6..]) : Encoding.UTF8.GetBytes(secret))
    .ToArray();
#endregion
// In an application: a table, written in the transaction of the work.
var done = new ConcurrentDictionary<string, bool>();

#region verify
// body: the raw bytes. One matching signature of any secret is enough: so a rotation leaves no gap.
bool IsSigned(IHeaderDictionary headers, byte[] body)
{
    var timestamp = headers["webhook-timestamp"].ToString();
    if (!Regex.IsMatch(timestamp, @"\A[0-9]{1,12}\z")) return false;
    if (Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - long.Parse(timestamp)) > MaxAgeS) return false;
    byte[] signed = [.. Encoding.UTF8.GetBytes($"{headers["webhook-id"]}.{timestamp}."), .. body];
    var given = headers["webhook-signature"].ToString().Split(' ').Select(Encoding.UTF8.GetBytes).ToArray();
    return keys
        .Select(key => Encoding.UTF8.GetBytes("v1," + Convert.ToBase64String(HMACSHA256.HashData(key, signed))))
        .Any(wanted => given.Any(one => CryptographicOperations.FixedTimeEquals(wanted, one)));
}
#endregion

var builder = WebApplication.CreateBuilder(args);
builder.Logging.ClearProviders();
builder.WebHost.ConfigureKestrel(kestrel => kestrel.Limits.MaxRequestBodySize = MaxBodyBytes);
var app = builder.Build();
app.MapPost("/{**path}", async (HttpRequest request) =>
{
    using var memory = new MemoryStream();
    await request.Body.CopyToAsync(memory);
    var body = memory.ToArray();
    if (!IsSigned(request.Headers, body)) return Results.StatusCode(401);
    using var parsed = JsonDocument.Parse(body);
    var id = request.Headers["webhook-id"].ToString();
    if (done.TryAdd(id, true)) Console.WriteLine($"accepted {id} {parsed.RootElement.GetProperty("event")}");
    return Results.StatusCode(204);
});
app.Run($"http://127.0.0.1:{Environment.GetEnvironmentVariable("PORT") ?? "8000"}");
