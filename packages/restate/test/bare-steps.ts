/** A service of Restate's SDK without Bowline, for benchmarks: requests in steps, one after the other. */
import { createEndpointHandler, service, type Context } from "@restatedev/restate-sdk";
import type { EndpointHandler } from "../src/create-runs.ts";

/** What a call of the service does. */
export interface BareSteps {
  readonly steps: number;
  /** Each step posts this body here, and journals the answer. */
  readonly url: string;
  readonly body: string;
}

/** Serves `bare_steps/run`, which takes {@link BareSteps}. */
export function bareSteps(): EndpointHandler {
  const run = async (context: Context, { steps, url, body }: BareSteps): Promise<number> => {
    for (let step = 0; step < steps; step++)
      await context.run(`step-${step}`, async () =>
        (await fetch(url, { method: "POST", body })).text(),
      );
    return steps;
  };
  const bare = service({ name: "bare_steps", handlers: { run } });
  return createEndpointHandler({ services: [bare], logger: () => {} });
}
