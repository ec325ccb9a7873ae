/** What `npm start` prints: everything a newcomer needs to see a webhook arrive. */
export function welcomeText(at: {
  apiUrl: string;
  receiverUrl: string;
  secretsFile: string;
  /** Where it is not the usual one. */
  dataDir: string | null;
  today: string;
  tenant: string;
  userToken: string;
  serviceToken: string;
}): string {
  const user = `-H 'Authorization: Bearer ${at.userToken}'`;
  const service = `-H 'Authorization: Bearer ${at.serviceToken}'`;
  const endpoint = JSON.stringify({ url: at.receiverUrl, events: ["invoice.*"] });
  const event = JSON.stringify({ type: "invoice.paid", data: { invoice_id: "inv_1", amount: 12900 } });
  const newestEndpoint = `$(curl -s ${at.apiUrl}/api/webhooks ${user} | grep -o '"id":"[^"]*"' | head -n 1 | cut -d '"' -f 4)`;
  const folder = at.dataDir === null ? "" : `DATA_DIR='${at.dataDir}' `;
  return `
Postern is running.

  API          ${at.apiUrl}
  Health       ${at.apiUrl}/health
  OpenAPI      ${at.apiUrl}/openapi.json
  Receiver     ${at.receiverUrl}  (a demonstration; it prints what arrives)
  Secrets      ${at.secretsFile}  (made for this demonstration; only you can read it)

Tokens, good for 12 hours:

  tenant user  ${at.userToken}

  service      ${at.serviceToken}

Try it in another terminal. Each of these is one line to paste.

1. Create an endpoint that leads to the demonstration receiver:

curl -s ${at.apiUrl}/api/webhooks ${user} -d '${endpoint}'

2. Publish an event, and watch it arrive here:

curl -s ${at.apiUrl}/api/events ${service} -d '${event}'

3. Read the delivery log:

curl -s ${at.apiUrl}/api/webhooks/${newestEndpoint}/deliveries ${user}

4. Export the log, in this folder:

${folder}npm run -s postern -- storage export --tenant ${at.tenant} --from ${at.today} --output log.zip --url ${at.apiUrl}

Ctrl-C stops everything; the next start finds the data again.
`;
}
