<?php
// Receives webhooks. php -S 127.0.0.1:8000 receiver.php, with WEBHOOK_SECRETS: the signing secrets, separated by spaces.
declare(strict_types=1);

const MAX_BODY_BYTES = 2 * 1024 * 1024;
// #region verify
const MAX_AGE_S = 300;
// #endregion

// #region verify
function key_of(string $secret): string
{
    return str_starts_with($secret, 'whsec_') ? (string) base64_decode(substr($secret, 6), true) : $secret;
}
// #endregion

// #region verify
/** $body: the raw bytes. One matching signature of any secret is enough: so a rotation leaves no gap. */
function is_signed(array $secrets, string $id, string $timestamp, string $signatures, string $body): bool
{
    if (preg_match('/\A[0-9]{1,12}\z/', $timestamp) !== 1 || abs(time() - (int) $timestamp) > MAX_AGE_S) {
        return false;
    }
    foreach ($secrets as $secret) {
        $digest = hash_hmac('sha256', "$id.$timestamp.$body", key_of($secret), true);
        foreach (explode(' ', $signatures) as $given) {
            if (hash_equals('v1,' . base64_encode($digest), $given)) {
                return true;
            }
        }
    }
    return false;
}
// #endregion

/** True for an id that is new. In an application: a table, written in the transaction of the work. */
function remember(string $id): bool
{
    $folder = sys_get_temp_dir() . '/received-webhooks';
    @mkdir($folder, 0700);
    return @fopen($folder . '/' . hash('sha256', $id), 'x') !== false;
}

// #region verify
$secrets = preg_split('/ +/', (string) getenv('WEBHOOK_SECRETS'), -1, PREG_SPLIT_NO_EMPTY);
// #endregion
$body = (string) file_get_contents('php://input', false, null, 0, MAX_BODY_BYTES + 1);
$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
$signatures = $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '';
if (strlen($body) > MAX_BODY_BYTES) {
    http_response_code(413);
} elseif (!is_signed($secrets, $id, $timestamp, $signatures, $body)) {
    http_response_code(401);
} else {
    $event = json_decode($body, true, 512, JSON_THROW_ON_ERROR);
    if (remember($id)) {
        file_put_contents('php://stdout', "accepted $id {$event['event']}\n");
    }
    http_response_code(204);
}
