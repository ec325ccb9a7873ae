# Receives webhooks. rackup, with WEBHOOK_SECRETS: the signing secrets, separated by spaces.
require "json"
# region verify
require "openssl"
require "rack/utils"
# endregion

$stdout.sync = true
MAX_BODY_BYTES = 2 * 1024 * 1024
# region verify
MAX_AGE_S = 300
KEYS = ENV.fetch("WEBHOOK_SECRETS", "").split.map do |secret|
  secret.start_with?("whsec_") ? secret.delete_prefix("whsec_").unpack1("m0") : secret
end
# endregion
# In an application: a table, written in the transaction of the work.
DONE = {}
LOCK = Mutex.new

# region verify
# body: the raw bytes. One matching signature of any secret is enough: so a rotation leaves no gap.
def signed?(env, body)
  timestamp = env["HTTP_WEBHOOK_TIMESTAMP"].to_s
  return false unless timestamp.match?(/\A[0-9]{1,12}\z/)
  return false if (Time.now.to_i - timestamp.to_i).abs > MAX_AGE_S

  signed = "#{env["HTTP_WEBHOOK_ID"]}.#{timestamp}.".b + body
  given = env["HTTP_WEBHOOK_SIGNATURE"].to_s.split
  KEYS.any? do |key|
    wanted = "v1,#{[OpenSSL::HMAC.digest("SHA256", key, signed)].pack("m0")}"
    given.any? { |one| Rack::Utils.secure_compare(wanted, one) }
  end
end
# endregion

run lambda { |env|
  body = env["rack.input"]&.read(MAX_BODY_BYTES + 1).to_s.b
  next [413, {}, []] if body.bytesize > MAX_BODY_BYTES
  next [401, {}, []] unless signed?(env, body)

  event = JSON.parse(body)
  id = env["HTTP_WEBHOOK_ID"]
  is_new = LOCK.synchronize { DONE.key?(id) ? false : DONE[id] = true }
  puts "accepted #{id} #{event["event"]}" if is_new
  [204, {}, []]
}
