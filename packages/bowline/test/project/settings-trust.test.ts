/** Rules of a project's settings take effect only with the content that the user trusted. */
import assert from "node:assert/strict";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadPermissions, type ProjectTrust } from "../../src/policy/load-permissions.ts";
import type { Permissions } from "../../src/policy/permissions.ts";
import { loadProject, type Project } from "../../src/project/project.ts";
import { createTrustStore } from "../../src/trust/trust-store.ts";
import { temporary } from "../command.ts";

interface Place extends AsyncDisposable {
  readonly root: string;
  readonly env: Record<string, string>;
  load(): Promise<{ readonly project: Project; readonly permissions: Permissions }>;
}

async function place(): Promise<Place> {
  const folder = await temporary();
  const root = join(folder.path, "root");
  await mkdir(root);
  const env = { HOME: join(folder.path, "home"), BOWLINE_HOME: join(folder.path, "home") };
  return {
    root,
    env,
    async load() {
      const project = await loadProject({ directory: root, env, now: new Date(0) });
      const trust: ProjectTrust = project.settingsTrust;
      return { project, permissions: await loadPermissions({ directory: root, env, trust }) };
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const action = (permissions: Permissions): string =>
  permissions.judge({ tool: "bash", args: { command: "date" } }).action;
const rules = '{"permissions":{"allow":["bash(date)"]}}';

describe("the rules of a project", () => {
  it("do not allow anything from a file that trust cannot cover", async () => {
    await using here = await place();
    const file = join(here.root, "bowline.json");
    await writeFile(file, Buffer.from(`${rules.slice(0, -1)},"x\u00ff":1}`, "latin1"));
    const { permissions } = await here.load();
    assert.equal(action(permissions), "ask");
    assert.match(permissions.notices.join("\n"), /is not UTF-8 text/);
  });

  it("are not read through a link out of the project, and nothing of the file is shown", async () => {
    await using here = await place();
    for (const [name, text] of [
      ["bowline.json", rules],
      ["bowline.local.json", "TOP SECRET"],
    ] as const) {
      await writeFile(join(here.root, "..", name), text);
      await symlink(join(here.root, "..", name), join(here.root, name));
    }
    const { project, permissions } = await here.load();
    assert.equal(action(permissions), "ask");
    const said = [...project.notices, ...permissions.notices].join("\n");
    assert.match(said, /bowline\.local\.json leads out of the project/);
    assert.doesNotMatch(said, /TOP SECRET/);
  });

  it("do not allow anything when the file changes after trust was checked", async () => {
    await using here = await place();
    const file = join(here.root, "bowline.json");
    await writeFile(file, "{}");
    const { project } = await here.load();
    await createTrustStore({ env: here.env }).trust(project.root, project.wouldTakeEffect);
    const { settingsTrust: trust } = (await here.load()).project;
    await writeFile(file, rules);
    const permissions = await loadPermissions({ directory: here.root, env: here.env, trust });
    assert.equal(action(permissions), "ask");
  });

  it("that the user adds stay trusted, also in a folder without settings", async () => {
    await using here = await place();
    await (await here.load()).permissions.add("bash(date)", "allow", "project");
    const { project, permissions } = await here.load();
    assert.deepEqual([project.trust, action(permissions)], ["trusted", "allow"]);
    assert.match(await readFile(join(here.root, "bowline.local.json"), "utf8"), /bash\(date\)/);
  });

  it("that the user adds do not make a stranger's file trusted", async () => {
    await using here = await place();
    await writeFile(join(here.root, "bowline.local.json"), rules);
    await (await here.load()).permissions.add("bash(ls)", "allow", "project");
    const { project, permissions } = await here.load();
    assert.deepEqual([project.trust, action(permissions)], ["untrusted", "ask"]);
  });
});
