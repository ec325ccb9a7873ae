const MOVED = `
The receiver's usual port is taken by another program, so it has one of its own
this time: endpoints that were made at earlier starts lead nowhere. To have the
usual one again, end that program and start anew.
`;

/** What `npm start` prints: everything a newcomer needs to see a webhook arrive. */
export function welcomeText(at: {
  apiUrl: string;
  receiver: { url: string; isMoved: boolean };
  secretsFile: string;
  /** Holds the tokens and the database's URL. */
  envFile: string;
  /** Where it is not the usual one. */
  dataDir: string | null;
  today: string;
  tenant: string;
}): string {
  const user = '-H "Authorization: Bearer $USER_TOKEN"';
  const service = '-H "Authorization: Bearer $SERVICE_TOKEN"';
  const endpoint = JSON.stringify({ url: at.receiver.url, events: ["invoice.*"] });
  const event = JSON.stringify({ type: "invoice.paid", data: { invoice_id: "inv_1", amount: 12900 } });
  const folder = at.dataDir === null ? "" : `DATA_DIR='${at.dataDir}' `;
  return `
Postern is running.

  API          ${at.apiUrl}
  Health       ${at.apiUrl}/health
  Reference    ${at.apiUrl}/reference  (the API, to read and to try; also as /openapi.json)
  Receiver     ${at.receiver.url}  (a demonstration; it prints what arrives)
  Secrets      ${at.secretsFile}  (made for this demonstration; only you can read it)
  Tokens       ${at.envFile}  (for 12 hours; a tenant's user and a service)
${at.receiver.isMoved ? MOVED : ""}
Try it in another terminal. Each of these is one line to paste.

First, the tokens:

. ${at.envFile}

1. Create an endpoint that leads to the demonstration receiver:

curl -s ${at.apiUrl}/api/webhooks ${user} -d '${endpoint}'

2. Publish an event, and watch it arrive here:

curl -s ${at.apiUrl}/api/events ${service} -d '${event}'

3. Read the delivery log:

curl -s ${at.apiUrl}/api/deliveries ${user}

4. Publish from SQL, in a transaction of your own (with psql, if you have it):

psql "$DATABASE_URL" -c "SELECT postern.publish('${at.tenant}', 'invoice.paid', '{\\"invoice_id\\": \\"inv_2\\"}')"

5. Export the log, in this folder:

${folder}npm run -s postern -- storage export --tenant ${at.tenant} --from ${at.today} --output log.zip --url ${at.apiUrl}

Ctrl-C stops everything; the next start finds the data again.
`;
}
