import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { configFolder } from "../../src/home.ts";
import { checkSettings } from "../../src/settings/check-settings.ts";
import type { SettingsScope } from "../../src/settings/keys.ts";
import { loadSettings, readProjectSettings } from "../../src/settings/settings.ts";
import { temporary } from "../command.ts";

const env = { REGION: "eu", MY_API_KEY: "sk-0123456789" };

function refused(settings: object, scope: SettingsScope = "user"): string {
  try {
    checkSettings(JSON.stringify(settings), { path: "bowline.json", scope, env });
  } catch (error) {
    return (error as Error).message;
  }
  return assert.fail(`${JSON.stringify(settings)} was accepted`);
}

describe("a settings file", () => {
  for (const [settings, message] of [
    [{ modle: "x" }, 'There is no setting "modle". Did you mean "model"?'],
    [{ qqqqqqqqqq: 1 }, 'There is no setting "qqqqqqqqqq".'],
    [{ model: 1 }, "model takes a text, not 1."],
    [{ model: "" }, 'model takes a text, not "".'],
    [{ thinking: "hihg" }, 'not "hihg". Did you mean "high"?'],
    [{ compactAt: 5 }, "compactAt takes a whole number from 10 to 95, not 5."],
    [{ screenReader: "yes" }, 'screenReader takes true or false, not "yes".'],
    [{ tools: "read" }, "tools takes a list of at most 500 texts."],
    [{ baseUrl: "file:///x" }, "baseUrl takes an http or https address."],
    [{ baseUrl: "http://u:p@x/v1" }, "baseUrl cannot contain a user name or a password."],
    [{ apiKeyEnv: "MY_API_KEY" }, "apiKeyEnv needs model or baseUrl in the same file."],
    [
      { model: "x/y", apiKeyEnv: "not a name" },
      "apiKeyEnv takes the name of an environment variable",
    ],
    [{ keys: { "x.org": "K" } }, '"x.org" is not an http or https address.'],
    [{ permissions: { alow: [] } }, 'but not "alow". Did you mean "allow"?'],
    [
      { permissions: { allow: [{ rule: "bash", not: [] }] } },
      'but not "not". Did you mean "notMatch"?',
    ],
    [{ permissions: { allow: [1] } }, "A rule is a text, or an object"],
    [
      { model: "${MY_API_KEY}" },
      "model cannot contain MY_API_KEY, because it looks like a secret.",
    ],
    [{ baseUrl: "http://x/${MY_API_KEY}" }, "baseUrl cannot contain MY_API_KEY"],
    [{ model: "${NONE}" }, "model: the variable NONE is not set."],
    [{ model: "${a b}" }, '"${a b}" is not a variable.'],
    [{ model: "${REGION" }, '"${REGION" is not a variable.'],
  ] as const)
    it(`is refused for ${JSON.stringify(settings)}`, () => {
      const said = refused(settings);
      assert.ok(said.includes(message), said);
      assert.match(said, /^bowline\.json:1:\d+: /);
    });

  it("of a project cannot name a key or a variable in its address", () => {
    for (const [name, value] of [
      ["apiKeyEnv", "MY_API_KEY"],
      ["keys", { "http://x": "MY_API_KEY" }],
      ["screenReader", true],
    ] as const)
      for (const scope of ["project", "local"] as const)
        assert.match(
          refused({ [name]: value, model: "x/y" }, scope),
          /can only be set in your own settings/,
        );
    assert.match(
      refused({ baseUrl: "http://${REGION}/v1" }, "project"),
      /cannot contain variables/,
    );
  });

  it("may contain variables where the table says so", () => {
    const text =
      '{"$schema": "x", "baseUrl": "http://${REGION}.x/v1", "appendSystem": "$${REGION} ${REGION}"}';
    assert.deepEqual(checkSettings(text, { path: "p", scope: "user", env }), {
      baseUrl: "http://eu.x/v1",
      appendSystem: "${REGION} eu",
    });
  });
});

describe("loadSettings", () => {
  it("joins the files of user, project and local in rising precedence", async () => {
    await using folder = await temporary();
    const [config, root] = [join(folder.path, "config"), join(folder.path, "root")];
    for (const [path, name, settings] of [
      [
        config,
        "bowline.json",
        { thinking: "low", tools: ["read"], sandbox: "required", permissions: { deny: ["a"] } },
      ],
      [
        root,
        "bowline.json",
        { thinking: "high", sandbox: "off", permissions: { deny: ["b"], allow: ["c"] } },
      ],
      [root, "bowline.local.json", { tools: ["bash"] }],
    ] as const) {
      await mkdir(path, { recursive: true });
      await writeFile(join(path, name), JSON.stringify(settings));
    }
    const project = await readProjectSettings(root);
    const { merged, sources, notices } = await loadSettings({ configFolder: config, project, env });
    assert.deepEqual(merged, {
      thinking: "high",
      tools: ["bash"],
      sandbox: "required",
      permissions: { allow: ["c"], ask: [], deny: ["a", "b"] },
    });
    assert.deepEqual(
      sources.map(({ scope, isUsed }) => [scope, isUsed]),
      [
        ["user", true],
        ["project", true],
        ["local", true],
      ],
    );
    assert.match(notices[0] ?? "", /a project cannot loosen it/);
    const untrusted = await loadSettings({
      configFolder: config,
      project,
      env,
      whyNotProject: "no",
    });
    assert.deepEqual(
      [untrusted.merged.thinking, untrusted.merged.permissions?.deny],
      ["low", ["a"]],
    );
    assert.deepEqual(
      untrusted.sources.map(({ why }) => why),
      [undefined, "no", "no"],
    );
  });

  it("reads no pipe and no link out of the project", async () => {
    await using folder = await temporary();
    const root = join(folder.path, "root");
    await mkdir(root);
    await writeFile(join(folder.path, "outside.json"), "{}");
    await symlink(join(folder.path, "outside.json"), join(root, "bowline.json"));
    execFileSync("mkfifo", [join(root, "bowline.local.json")]);
    const files = await readProjectSettings(root);
    assert.deepEqual(
      files.map(({ file }) => file.kind === "refused" && file.why),
      ["leads out of the folder and was not read", "is a named pipe and was not read"],
    );
  });
});

describe("the folder of settings", () => {
  it("is BOWLINE_HOME, or else the one of XDG, or else the system's", () => {
    const home = (): string => "/home/ada";
    assert.equal(configFolder({ BOWLINE_HOME: "/b" }, "linux", home), "/b");
    assert.equal(configFolder({ XDG_CONFIG_HOME: "/x" }, "linux", home), "/x/bowline");
    assert.equal(
      configFolder({ XDG_CONFIG_HOME: "x" }, "darwin", home),
      "/home/ada/.config/bowline",
    );
    assert.match(configFolder({ APPDATA: "/r" }, "win32", home), /r.bowline$/);
  });
});
