// A real OpenID provider, for tests: node identity_provider.mjs LIBRARY PORT CLIENT_ID CLIENT_SECRET REDIRECT_URI
// Whoever signs in as "NAME" has the address NAME@example.com, which is verified unless the name begins with "un".
const [library, port, client_id, client_secret, redirect_uri] = process.argv.slice(2);
const { default: Provider } = await import(library);

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id, client_secret, redirect_uris: [redirect_uri] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  cookies: { keys: ["of a test"] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      email: `${id}@example.com`,
      email_verified: !id.startsWith("un"),
      name: `${id[0].toUpperCase()}${id.slice(1)} Example`,
    }),
  }),
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
