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
  return {
    ca: file("ca.pem"),
    ...(await signed(folder, { by: "ca", name: "server", extensions: file("names") })),
    otherCa: file("other.pem"),
  };
}

/** Creates a client's certificate in the folder of {@link createCertificates}. `by` signs it. */
export function createClientCertificate(
  folder: string,
  name: string,
  by: "ca" | "other",
): Promise<Signed> {
  return signed(folder, { by, name });
}

/** Paths of PEM files. */
interface Signed {
  readonly cert: string;
  readonly key: string;
}

interface Request {
  /** The authority's name. */
  readonly by: string;
  /** The common name. */
  readonly name: string;
  /** A file with X.509 extensions. */
  readonly extensions?: string;
}

async function signed(folder: string, { by, name, extensions }: Request): Promise<Signed> {
  const file = (ending: string): string => join(folder, `${name}-of-${by}.${ending}`);
  await openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", `/CN=${name}`, [
    "-keyout",
    file("key"),
    "-out",
    file("csr"),
  ]);
  await openssl("x509", "-req", "-days", "2", "-in", file("csr"), [
    "-CA",
    join(folder, `${by}.pem`),
    "-CAkey",
    join(folder, `${by}.key`),
    "-CAcreateserial",
    ...(extensions === undefined ? [] : ["-extfile", extensions]),
    "-out",
    file("pem"),
  ]);
  return { cert: file("pem"), key: file("key") };
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
