// An OAuth client that needs no person: it follows the authorization address by itself, as the suite's
// authorization servers allow.
import {
  ClientCredentialsProvider,
  DpopSession,
  PrivateKeyJwtProvider,
} from "@modelcontextprotocol/client";

const REDIRECT = "http://127.0.0.1:33418/callback";

/** The suite hosts this document's meaning only: a client id that is an address. */
const METADATA = "https://conformance-test.local/client-metadata.json";

/** The way of authorization that a scenario is about. */
export async function providerOf(scenario, context) {
  const { client_id: clientId, client_secret: clientSecret } = context;
  switch (scenario) {
    case "auth/client-credentials-basic":
      return new ClientCredentialsProvider({ clientId, clientSecret });
    case "auth/client-credentials-jwt": {
      const { private_key_pem: privateKey, signing_algorithm: algorithm } = context;
      return new PrivateKeyJwtProvider({ clientId, privateKey, algorithm });
    }
    case "auth/dpop":
    case "auth/dpop-nonce": {
      const session = await DpopSession.create();
      return Object.assign(createProvider(context), { dpop: () => session });
    }
    default:
      return createProvider(context);
  }
}

function createProvider(context) {
  let tokens;
  let verifier;
  const { client_id, client_secret } = context;
  /** Of each authorization server what it knows us as: no other one must see it. */
  const known = new Map();
  let left = 3;
  return {
    /** The query of the address to which the authorization server sent us back. */
    answer: undefined,
    redirectUrl: REDIRECT,
    clientMetadataUrl: METADATA,
    clientMetadata: {
      client_name: "bowline-conformance",
      redirect_uris: [REDIRECT],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      application_type: "native",
    },
    clientInformation: ({ issuer } = {}) =>
      known.get(issuer) ?? (client_id === undefined ? undefined : { client_id, client_secret }),
    saveClientInformation: (saved, { issuer } = {}) => void known.set(issuer, saved),
    tokens: () => tokens,
    saveTokens: (saved) => void (tokens = saved),
    saveCodeVerifier: (saved) => void (verifier = saved),
    codeVerifier: () => verifier,
    invalidateCredentials(scope) {
      if (scope === "all" || scope === "tokens") tokens = undefined;
      if (scope === "all" || scope === "client") known.clear();
    },
    async redirectToAuthorization(address) {
      // A person would not grant the same thing over and over.
      if (left-- === 0) return;
      const response = await fetch(address, { redirect: "manual" });
      const location = response.headers.get("location");
      if (location) this.answer = new URL(location, address).searchParams;
    },
  };
}

/** Ends the authorization if one waits. Returns whether it did. */
export async function settle(mcp, provider) {
  const answer = provider?.answer;
  if (answer === undefined) return false;
  provider.answer = undefined;
  try {
    await mcp.finishAuth("test", answer);
    return true;
  } catch (error) {
    console.error(`not authorized: ${error.message}`);
    return false;
  }
}
