/** Certificates and keys of tests, made with openssl in a folder. */
import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

export interface Certificates {
  /** The authority's certificate. */
  readonly ca: string;
  /** Of servers on 127.0.0.1 and localhost. */
  readonly cert: string;
  readonly key: string;
  /** The certificate of an authority that signed nothing. */
  readonly otherCa: string;
}

/** Returns the paths of PEM files that all users may read. */
export async function createCertificates(folder: string): Promise<Certificates> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  const file = (name: string): string => join(folder, name);
  await authority(file("ca"));
  await authority(file("other"));
  await writeFile(file("names"), "subjectAltName=IP:127.0.0.1,DNS:localhost\n");
  await openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=server", [
    "-keyout",
    file("server.key"),
    "-out",
    file("server.csr"),
  ]);
  await openssl("x509", "-req", "-days", "2", "-in", file("server.csr"), [
    "-CA",
    file("ca.pem"),
    "-CAkey",
    file("ca.key"),
    "-CAcreateserial",
    "-extfile",
    file("names"),
    "-out",
    file("server.pem"),
  ]);
  return {
    ca: file("ca.pem"),
    cert: file("server.pem"),
    key: file("server.key"),
    otherCa: file("other.pem"),
  };
}

async function authority(path: string): Promise<void> {
  await openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", [
    "-subj",
    "/CN=authority",
    "-keyout",
    `${path}.key`,
    "-out",
    `${path}.pem`,
  ]);
}

async function openssl(...args: readonly (string | readonly string[])[]): Promise<void> {
  await execute("openssl", args.flat());
}

/** The key with which Restate signs its requests, and the public key that workers take. */
export async function createIdentity(
  folder: string,
): Promise<{ readonly file: string; readonly publicKey: string }> {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const file = join(folder, "identity.pem");
  await writeFile(file, privateKey.export({ type: "pkcs8", format: "pem" }));
  const { x = "" } = publicKey.export({ format: "jwk" });
  return { file, publicKey: `publickeyv1_${base58(Buffer.from(x, "base64url"))}` };
}

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

function base58(bytes: Buffer): string {
  let value = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  for (; value > 0n; value /= 58n) text = `${ALPHABET[Number(value % 58n)]}${text}`;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return "1".repeat(Math.max(zeros, 0)) + text;
}
