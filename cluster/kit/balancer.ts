/**
 * A load balancer on loopback, as a process: each front sends a connection to the target with the
 * fewest, among those whose health check answers. Its settings are in the environment.
 */
import { connect, createServer, type Socket } from "node:net";

/** Passed as JSON in `BALANCER`. */
export interface BalancerSettings {
  readonly fronts: readonly Front[];
}

export interface Front {
  readonly address: string;
  readonly port: number;
  readonly targets: readonly Target[];
}

export interface Target {
  readonly address: string;
  readonly port: number;
  /** Answers 2xx while the target takes connections, and another status while it takes no new ones. */
  readonly health: string;
}

const CHECK_MS = 500;
const CHECK_LIMIT_MS = 1500;
/** Failed checks in a row after which the connections of a target are cut. */
const FAILURES = 2;

class Backend {
  readonly #target: Target;
  readonly #sockets = new Set<Socket>();
  #takesNew = false;
  #failures = 0;

  constructor(target: Target) {
    this.#target = target;
  }

  get target(): Target {
    return this.#target;
  }

  get load(): number {
    return this.#sockets.size;
  }

  get takesNew(): boolean {
    return this.#takesNew;
  }

  hold(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  async check(): Promise<void> {
    try {
      const signal = AbortSignal.timeout(CHECK_LIMIT_MS);
      const response = await fetch(this.#target.health, { signal });
      await response.arrayBuffer();
      this.#takesNew = response.ok;
      this.#failures = 0;
    } catch {
      this.#takesNew = false;
      this.#failures++;
    }
    if (this.#failures < FAILURES) return;
    for (const socket of this.#sockets) socket.destroy();
  }
}

const { fronts } = JSON.parse(process.env.BALANCER ?? "{}") as BalancerSettings;
for (const front of fronts) listen(front);

function listen({ address, port, targets }: Front): void {
  const backends = targets.map((target) => new Backend(target));
  const watch = async (backend: Backend): Promise<void> => {
    await backend.check();
    setTimeout(() => void watch(backend), CHECK_MS);
  };
  for (const backend of backends) void watch(backend);
  createServer({ allowHalfOpen: true }, (near) => forward(near, backends)).listen(port, address);
}

/** Without a healthy target, the others are tried: a check may be late. */
function forward(near: Socket, backends: readonly Backend[]): void {
  near.on("error", () => near.destroy());
  const order = backends.toSorted(
    (a, b) => Number(b.takesNew) - Number(a.takesNew) || a.load - b.load,
  );
  const attempt = (index: number): void => {
    const backend = order[index];
    if (near.destroyed) return;
    if (backend === undefined) return void near.destroy();
    const far = connect({
      port: backend.target.port,
      host: backend.target.address,
      allowHalfOpen: true,
    });
    const next = (): void => attempt(index + 1);
    far.once("error", next).once("connect", () => {
      far.off("error", next);
      join(near, far, backend);
    });
  };
  attempt(0);
}

function join(near: Socket, far: Socket, backend: Backend): void {
  far.on("error", () => far.destroy());
  far.once("close", () => near.destroy());
  near.once("close", () => far.destroy());
  if (near.destroyed) return void far.destroy();
  backend.hold(far);
  near.pipe(far);
  far.pipe(near);
}
