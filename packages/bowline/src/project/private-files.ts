/** Files that are never added to a prompt because a text mentions them. */

const PRIVATE_NAME =
  /^(?:\.env(?:\..*)?|\.npmrc|\.pypirc|\.netrc|\.git-credentials|id_(?:rsa|dsa|ecdsa|ed25519).*|.*\.(?:pem|key|p12|pfx|jks|keystore)|credentials(?:\.json)?|secrets?\.(?:json|ya?ml|toml))$/i;
const PRIVATE_FOLDER = /^(?:\.git|\.ssh|\.aws|\.gnupg|\.kube|\.docker)$/i;

/** Returns true for a path with "/" as separator that usually holds secrets. */
export function isPrivateFile(path: string): boolean {
  const names = path.split("/");
  return names.some((name) => PRIVATE_FOLDER.test(name)) || PRIVATE_NAME.test(names.at(-1) ?? "");
}
