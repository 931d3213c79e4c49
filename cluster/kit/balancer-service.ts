/** Starts the load balancer of a system as a process. */
import { join } from "node:path";
import { accepts } from "./accepts.ts";
import type { BalancerSettings } from "./balancer.ts";
import type { Place } from "./place.ts";
import { Service } from "./service.ts";

export function createBalancer({
  folder,
  fronts,
  place,
}: BalancerSettings & { readonly folder: string; readonly place: Place }): Service {
  return new Service({
    kind: "balancer",
    process: {
      name: "balancer",
      command: process.execPath,
      args: [join(import.meta.dirname, "balancer.ts")],
      env: { BALANCER: JSON.stringify({ fronts } satisfies BalancerSettings) },
      folder,
      place,
    },
    isReady: async () =>
      !(await Promise.all(fronts.map(({ port, address }) => accepts(port, address)))).includes(
        false,
      ),
  });
}
