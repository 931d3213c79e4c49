import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { SettingsScope } from "../../src/settings/keys.ts";
import type { Settings } from "../../src/settings/keys.ts";
import {
  chooseServer,
  type ServerChoice,
  type ServerOptions,
} from "../../src/settings/server-choice.ts";
import { mergeSources } from "../../src/settings/settings.ts";

type Files = Partial<Record<SettingsScope, Settings>>;

function choose(files: Files, options: ServerOptions = {}, environment?: string): ServerChoice {
  const sources = (["user", "project", "local"] as const).flatMap((scope) => {
    const settings = files[scope];
    return settings ? [{ path: `${scope}.json`, scope, isUsed: true, settings }] : [];
  });
  return chooseServer(options, mergeSources(sources), environment);
}

function plain(choice: ServerChoice): object {
  const { notices, origin, ...rest } = choice;
  assert.ok(Array.isArray(notices) && origin !== "");
  return rest;
}

describe("chooseServer", () => {
  it("takes model, address and key of the user's file together", () => {
    const user = { model: "m", baseUrl: "http://own/v1", apiKeyEnv: "OWN_KEY" };
    assert.deepEqual(plain(choose({ user })), user);
    assert.deepEqual(plain(choose({ user }, { model: "n" })), { ...user, model: "n" });
  });

  it("sends a vendor's model to the vendor, without the key of another server", () => {
    const user = { model: "m", baseUrl: "http://own/v1", apiKeyEnv: "OWN_KEY" };
    assert.deepEqual(plain(choose({ user }, { model: "openai/x" })), { model: "openai/x" });
    assert.deepEqual(plain(choose({ user, project: { model: "openai/x" } })), {
      model: "openai/x",
    });
    const keyed = { model: "openai/x", apiKeyEnv: "OWN_KEY" };
    assert.deepEqual(plain(choose({ user: keyed, project: { model: "groq/y" } })), {
      model: "groq/y",
    });
    assert.deepEqual(plain(choose({ user: keyed, project: { model: "openai/y" } })), {
      model: "openai/y",
      apiKeyEnv: "OWN_KEY",
    });
  });

  it("leaves the name in BOWLINE_MODEL to the command, unless it is an id of a configured server", () => {
    assert.deepEqual(plain(choose({ user: { model: "openai/x" } }, {}, "groq/y")), {});
    const user = { baseUrl: "http://own/v1" };
    assert.deepEqual(plain(choose({ user }, {}, "y")), { ...user, model: "y" });
  });

  it("ignores the settings when an option names the server", () => {
    const project = { model: "m", baseUrl: "http://theirs/v1" };
    assert.deepEqual(plain(choose({ project }, { baseUrl: "http://own/v1" })), {
      baseUrl: "http://own/v1",
    });
    assert.deepEqual(plain(choose({ project }, { profile: "p.json" })), { profile: "p.json" });
  });

  it("never gives a key of the user to an address of a project, whatever the files and options say", () => {
    const name = fc.constantFrom(undefined, "m", "openai/x", "groq/y");
    const address = fc.constantFrom(undefined, "http://own/v1", "http://theirs/v1");
    const file = fc.record({ model: name, baseUrl: address });
    const key = fc.constantFrom(undefined, "OWN_KEY");
    fc.assert(
      fc.property(
        file,
        file,
        file,
        key,
        fc.record({ model: name, apiKeyEnv: key }),
        name,
        (user, project, local, apiKeyEnv, options, environment) => {
          const given = clean(user);
          const hasServer = given.model !== undefined || given.baseUrl !== undefined;
          const own = hasServer && apiKeyEnv !== undefined ? { ...given, apiKeyEnv } : given;
          const files = { user: own, project: clean(project), local: clean(local) };
          const chosen = choose(files, clean(options), environment);
          const isTheirs =
            chosen.baseUrl !== undefined &&
            (local.baseUrl === chosen.baseUrl || project.baseUrl === chosen.baseUrl) &&
            user.baseUrl !== chosen.baseUrl;
          if (isTheirs) assert.deepEqual([chosen.isKeyless, chosen.apiKeyEnv], [true, undefined]);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it("gives the key that the user named for the address", () => {
    const user = { keys: { "http://theirs/v1/": "TEAM_KEY" } };
    const chosen = choose(
      { user, project: { baseUrl: "http://THEIRS/v1" } },
      { apiKeyEnv: "OTHER" },
    );
    assert.deepEqual([chosen.apiKeyEnv, chosen.isKeyless], ["TEAM_KEY", undefined]);
    assert.match(chosen.notices[0] ?? "", /gets the key in TEAM_KEY/);
    assert.equal(choose({ user, project: { baseUrl: "http://theirs/v2" } }).isKeyless, true);
  });
});

function clean<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
