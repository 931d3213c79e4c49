// An OAuth client that needs no person: it follows the authorization address by itself, as the suite's
// authorization servers allow.
const REDIRECT = "http://127.0.0.1:33418/callback";

/** The suite hosts this document's meaning only: a client id that is an address. */
const METADATA = "https://conformance-test.local/client-metadata.json";

export function createProvider(context) {
  let tokens;
  let verifier;
  let information =
    context.client_id === undefined
      ? undefined
      : { client_id: context.client_id, client_secret: context.client_secret };
  let discovery;
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
    clientInformation: () => information,
    saveClientInformation: (saved) => void (information = saved),
    tokens: () => tokens,
    saveTokens: (saved) => void (tokens = saved),
    saveCodeVerifier: (saved) => void (verifier = saved),
    codeVerifier: () => verifier,
    saveDiscoveryState: (saved) => void (discovery = saved),
    discoveryState: () => discovery,
    invalidateCredentials(scope) {
      if (scope === "all" || scope === "tokens") tokens = undefined;
      if (scope === "all" || scope === "client") information = undefined;
      if (scope === "all" || scope === "discovery") discovery = undefined;
    },
    async redirectToAuthorization(address) {
      const response = await fetch(address, { redirect: "manual" });
      const location = response.headers.get("location");
      if (location) this.answer = new URL(location, address).searchParams;
    },
  };
}

/** Ends the authorization if one waits. Returns whether it did. */
export async function settle(mcp, provider) {
  const { answer } = provider;
  provider.answer = undefined;
  if (answer === undefined) return false;
  try {
    await mcp.finishAuth("test", answer);
    return true;
  } catch (error) {
    console.error(`not authorized: ${error.message}`);
    return false;
  }
}
