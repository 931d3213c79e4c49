/** The accounts of a NATS server that knows its users by signed tokens (JWT). */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createAccount,
  createOperator,
  createUser,
  encodeAccount,
  encodeOperator,
  encodeUser,
  fmtCreds,
} from "@nats-io/jwt";

export interface NatsAuthority {
  /** The server's configuration. */
  readonly configFile: string;
  /** The credentials (`.creds`) of a user of its account. */
  readonly credentials: string;
  /** The credentials of an account that the server does not know. */
  readonly strange: string;
}

/** The limits of an account are 0 unless they are given. -1 is none. */
const limits = { conn: -1, subs: -1, data: -1, payload: -1 };

/** Returns the paths of files in the folder. */
export async function createNatsAuthority(folder: string): Promise<NatsAuthority> {
  const [operator, account, stranger] = [createOperator(), createAccount(), createAccount()];
  const settings = {
    operator: await encodeOperator("bowline", operator),
    resolver: "MEMORY",
    resolver_preload: {
      [account.getPublicKey()]: await encodeAccount(
        "own",
        account,
        { limits },
        { signer: operator },
      ),
    },
  };
  const write = (name: string, content: string | Uint8Array): string => {
    const file = join(folder, name);
    writeFileSync(file, content, { mode: 0o600 });
    return file;
  };
  const user = async (name: string, issuer: typeof account): Promise<string> => {
    const key = createUser();
    return write(`${name}.creds`, fmtCreds(await encodeUser(name, key, issuer), key));
  };
  return {
    configFile: write("nats.json", JSON.stringify(settings)),
    credentials: await user("bowline", account),
    strange: await user("stranger", stranger),
  };
}
