/** Sends messages over NATS and waits for them: with its client alone, and over the bus of this package. */
import { connect } from "@nats-io/transport-node";
import { connectNats } from "../../src/bus/nats-bus.ts";

const SUBJECT = "rounds";

/** Resolves with the milliseconds for `count` messages, from the first that is sent to the last that arrives. */
export type Rounds = (count: number, payload: Uint8Array) => Promise<number>;

/** Connects twice with the client of NATS. Call `close` at the end. */
export async function bareRounds(
  servers: string,
): Promise<{ readonly rounds: Rounds; readonly close: () => Promise<unknown> }> {
  const [sender, receiver] = await Promise.all([connect({ servers }), connect({ servers })]);
  return {
    async rounds(count, payload) {
      const arrived = Promise.withResolvers<void>();
      let left = count;
      const callback = (): void => {
        if (--left === 0) arrived.resolve();
      };
      const subscription = receiver.subscribe(SUBJECT, { callback });
      await receiver.flush();
      const started = performance.now();
      for (let sent = 0; sent < count; sent++) sender.publish(SUBJECT, payload);
      await arrived.promise;
      subscription.unsubscribe();
      return performance.now() - started;
    },
    close: () => Promise.all([sender.close(), receiver.close()]),
  };
}

/** The same over two buses. */
export async function busRounds(
  servers: string,
): Promise<{ readonly rounds: Rounds; readonly close: () => Promise<unknown> }> {
  const [sender, receiver] = await Promise.all([
    connectNats({ servers }),
    connectNats({ servers }),
  ]);
  return {
    async rounds(count, payload) {
      const arrived = Promise.withResolvers<void>();
      let left = count;
      const end = receiver.subscribe(SUBJECT, () => {
        if (--left === 0) arrived.resolve();
      });
      await receiver.flush();
      const started = performance.now();
      for (let sent = 0; sent < count; sent++) sender.publish(SUBJECT, payload);
      await arrived.promise;
      end();
      return performance.now() - started;
    },
    close: () => Promise.all([sender.close(), receiver.close()]),
  };
}
