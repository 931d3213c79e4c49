/** Ends a conversation and opens another in its place: a new one, an earlier one or a fork. */
import type { Session } from "@bowline/core/session";
import type { Chat } from "./chat.ts";
import { drawPast } from "./draw-past.ts";
import type { Runtime } from "./runtime.ts";

/** Throws if the other conversation cannot be opened. The current one is then unchanged. */
export async function changeSession(
  chat: Chat,
  open: () => Promise<Session | undefined>,
): Promise<Runtime> {
  const { world, runtime: before } = chat;
  const session = await open();
  let runtime: Runtime;
  try {
    // A new conversation stays with the model that the person is using.
    const wanted =
      session === undefined ? await world.wanted(before.session) : await world.wanted(session);
    runtime = await world.open(await world.connect(wanted), session);
  } catch (error) {
    await session?.close();
    throw error;
  }
  await before.close();
  chat.dispatch({ type: "reset" });
  if (session !== undefined) await drawPast(chat, session, runtime);
  return runtime;
}
