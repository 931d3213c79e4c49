/** Rules of settings: their texts, their files, their order and the suggestions. */
import assert from "node:assert/strict";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { CommandError } from "../../src/command-error.ts";
import { loadPermissions } from "../../src/policy/load-permissions.ts";
import type { RuleLists } from "../../src/policy/permission-file.ts";
import { createPermissions, type Permissions } from "../../src/policy/permissions.ts";
import type { PolicyRule } from "../../src/policy/policy.ts";
import { parseRule, RuleError, splitRules } from "../../src/policy/rule-text.ts";
import { openGatewayRules } from "../../src/serve/gateway-rules.ts";
import { temporary } from "../command.ts";

const user = (permissions: RuleLists): Permissions =>
  createPermissions({ sources: [{ path: "user.json", scope: "user", permissions }] });
const bash = (command: string): { tool: string; args: object } => ({
  tool: "bash",
  args: { command },
});
const edit = (path: string): { tool: string; args: object } => ({ tool: "edit", args: { path } });

/** Trust in every content. */
const everything = { covers: () => true, changed: async () => {} };

describe("the text of a rule", () => {
  it("is a tool, or a tool and a pattern", () => {
    const parse = (text: string): readonly PolicyRule[] => parseRule(text, "allow");
    assert.deepEqual(parse("bash(git log *)"), [
      { action: "allow", tool: "bash", pattern: "git log *" },
    ]);
    assert.deepEqual(parse("bash"), [{ action: "allow", tool: "bash" }]);
    assert.deepEqual(parse("bash(*)"), [{ action: "allow", tool: "bash" }]);
    assert.deepEqual(parse("read(.env)"), [{ action: "allow", tool: "read", pattern: ".env" }]);
    assert.deepEqual(parse("*"), [{ action: "allow", tool: "*" }]);
    assert.deepEqual(parse("github__search"), [{ action: "allow", tool: "github__search" }]);
  });

  it("is refused with the reason if it could be read differently", () => {
    const refused: [string, RegExp][] = [
      ["", /is no rule/],
      ["bash(", /is no rule/],
      ["bash()", /empty pattern/],
      ["git log", /is no rule/],
      ["Bash(git log *)", /no tool Bash\. Did you mean bash\?/],
      ["bsah(ls)", /Did you mean bash\?/],
      ["reed(.env)", /Did you mean read\?/],
      ["mcp__*(x)", /named without mcp__: server__\*\./],
      ["websearch*", /a star cannot be a part/],
      ["edit(/etc/*)", /relative to the working directory/],
      ["edit(../x)", /relative to the working directory/],
      ["edit(~/x)", /relative to the working directory/],
      ["read(secret/)", /a slash at the end/],
      ["read(a//b)", /without "\/\/"/],
      ["read(a/./b)", /without "\/\/"/],
      ["read(a\\b)", /without "\/\/"/],
      ["read(./)", /a slash at the end/],
      ["bash(g\u200bit)", /invisible/],
      ["bash(a\u0007)", /invisible/],
    ];
    for (const [text, why] of refused)
      assert.throws(
        () => parseRule(text, "allow"),
        (error) => error instanceof RuleError && why.test(error.message),
        text,
      );
  });

  it("that ends in :* denies both what the letters and what other tools mean by it", () => {
    const rules = user({ allow: ["bash"], deny: ["bash(npm run test:*)"] });
    for (const command of ["npm run test:unit", "npm run test", "npm run test -x"])
      assert.equal(rules.judge(bash(command)).action, "deny", command);
    assert.equal(
      user({ allow: ["bash(npm run test:*)"] }).judge(bash("npm run test -x")).action,
      "ask",
    );
  });

  it("that denies a folder denies what is in it", () => {
    const rules = user({ allow: ["write"], deny: ["read(secret)", "write(a/*)", "bash( * )"] });
    const actionOf = (tool: string, path: string): string =>
      rules.judge({ tool, args: { path } }).action;
    assert.deepEqual(
      ["secret", "secret/key", "./secret/a/b", "secretary"].map((path) => actionOf("read", path)),
      ["deny", "deny", "deny", "allow"],
    );
    assert.deepEqual(
      ["a/b", "a/b/c"].map((path) => actionOf("write", path)),
      ["deny", "allow"],
    );
    assert.equal(rules.judge(bash("ls -l a")).action, "deny");
  });

  it("is split from others at commas outside of brackets", () => {
    assert.deepEqual(splitRules("bash(a,b *), read , edit(x)"), ["bash(a,b *)", "read", "edit(x)"]);
  });
});

describe("the rules of several files", () => {
  it("let deny win over ask, and ask over allow, whichever file they are in", () => {
    const lists: RuleLists[] = [
      { allow: ["bash(git *)", "bash(ls *)", "bash(rm *)"] },
      { ask: ["bash(git push *)"] },
      { deny: ["bash(rm *)"] },
    ];
    for (const order of [lists, lists.toReversed()]) {
      const scopes = ["user", "project", "local"] as const;
      const sources = order.map((permissions, at) => ({
        path: `${at}.json`,
        scope: scopes[at] ?? "user",
        permissions,
        isTrusted: true,
      }));
      const rules = createPermissions({ sources });
      const actions = ["ls a", "git push x", "rm x"].map((one) => rules.judge(bash(one)).action);
      assert.deepEqual(actions, ["allow", "ask", "deny"]);
    }
  });

  it("take ask and deny from a project that is not trusted, and report its allow", () => {
    const permissions = { allow: ["bash"], deny: ["read(.env)"], ask: ["bash(git push *)"] };
    const source = { path: "bowline.json", scope: "project", permissions } as const;
    const own = { path: "u", scope: "user", permissions: { allow: ["bash(git push *)"] } } as const;
    const rules = createPermissions({ sources: [own, source] });
    assert.equal(rules.judge(bash("ls")).action, "ask");
    assert.equal(rules.judge(bash("git push x")).action, "ask");
    assert.equal(rules.judge({ tool: "read", args: { path: ".env" } }).action, "deny");
    assert.deepEqual(rules.notices, [
      "bowline.json: one allow rule has no effect, because the folder is not trusted.",
    ]);
    const trusted = createPermissions({ sources: [{ ...source, isTrusted: true }] });
    assert.equal(trusted.judge(bash("ls")).action, "allow");
  });

  it("name a rule of a person, and no built-in one, for a path that cannot be judged", () => {
    const outside = edit("../x");
    const why =
      "The path cannot be judged: it is missing, has .. or is outside the working directory.";
    assert.equal(user({}).judge(outside).reason, why);
    const own = user({ deny: ["edit(secret/**)"] }).judge(outside).reason;
    assert.equal(own, `${why} edit(secret/**) (user.json) may apply to a part of it.`);
  });

  it("ask about changes of the files that decide what may run, whatever is allowed", async () => {
    await using folder = await temporary();
    const root = folder.path;
    const env = { BOWLINE_HOME: join(root, ".config/own") };
    await mkdir(env.BOWLINE_HOME, { recursive: true });
    const permissions = { allow: ["*"] };
    await writeFile(join(env.BOWLINE_HOME, "bowline.json"), JSON.stringify({ permissions }));
    const rules = await loadPermissions({ directory: root, env });
    const paths = [
      "bowline.json",
      ".git/hooks/x",
      ".config/own/trust.json",
      ".config/own/skills/x",
    ];
    for (const path of paths) {
      assert.equal(rules.judge(edit(path)).action, "ask", path);
      assert.equal(rules.judge(edit(join(root, path))).action, "ask", path);
      for (const command of [`cp a ${path}`, `ln -sf a '${path}'`, `x --to=${join(root, path)}`])
        assert.match(rules.judge(bash(command)).reason, /decides what may run/, command);
      assert.equal(rules.judge(bash(`cat ${path}`)).action, "allow", path);
    }
    for (const path of [".config/other", "own/trust.json", "src/x"])
      for (const call of [edit(path), bash(`cp a ${path}`)])
        assert.equal(rules.judge(call).action, "allow", path);
  });

  it("give the reason, the rule with its file, and the parts", () => {
    const rules = user({ allow: ["bash(git log *)"], deny: ["bash(rm *)"] });
    const verdict = rules.judge(bash("git log -1 && rm 'a b'"));
    assert.equal(verdict.reason, "bash(rm *) (user.json) denies it.");
    assert.deepEqual(verdict.parts, ["git log -1", "rm 'a b'"]);
    assert.deepEqual([verdict.rule?.pattern, verdict.rule?.source], ["rm *", "user.json"]);
    assert.match(rules.judge(bash("git log --output=x")).reason, /--output=x can write files/);
    assert.equal(rules.judge(bash("git log -1 | wc")).reason, 'No rule allows "wc".');
  });

  it("cover the arguments of a script that they name, but not those of its interpreter", () => {
    const rules = user({ allow: ["bash(python3 manage.py *)", "bash(python3 *)", "bash(awk *)"] });
    const actions = ["python3 manage.py test -c x", "python3 -c 1", "python3 other.py", "awk 1 a"];
    assert.deepEqual(
      actions.map((command) => rules.judge(bash(command)).action),
      ["allow", "ask", "ask", "ask"],
    );
  });

  it("check their examples when they are loaded", () => {
    user({
      allow: [
        {
          rule: "bash(git log *)",
          match: ["git log -1"],
          notMatch: ["git push", "git log --output=x"],
        },
      ],
    });
    user({ deny: [{ rule: "read(**/.env)", match: [".env", "a/.env"], notMatch: ["env"] }] });
    const fails = (permissions: RuleLists, why: RegExp): void =>
      assert.throws(
        () => user(permissions),
        (error) => error instanceof CommandError && why.test(error.message),
      );
    fails(
      { allow: ["bash", { rule: "bash(git log *)", match: ["git push"] }] },
      /user\.json: permissions\.allow\[1\]: the rule "bash\(git log \*\)" does not cover its example "git push"/,
    );
    fails(
      { deny: [{ rule: "bash(git *)", notMatch: ["git log"] }] },
      /covers "git log", which notMatch excludes/,
    );
    fails({ ask: ["Bash"] }, /user\.json: permissions\.ask\[0\]: .*Did you mean bash/);
  });

  it("ask about a deny whose words stand apart in the command", () => {
    const rules = user({ allow: ["bash"], deny: ["bash(git push *)"] });
    assert.equal(rules.judge(bash("git -C . push")).action, "ask");
    assert.equal(rules.judge(bash("git log push")).action, "allow");
    assert.equal(rules.judge(bash("/usr/bin/GIT push")).action, "deny");
  });

  it("are relative to the folder of the file, also below it", async () => {
    await using folder = await temporary();
    await mkdir(join(folder.path, ".git"));
    const directory = join(folder.path, "packages/a");
    await mkdir(directory, { recursive: true });
    const deny = [
      "read(packages/a/.env)",
      "read(packages/*/key)",
      "edit(other/**)",
      "*(**/secret)",
    ];
    await writeFile(join(folder.path, "bowline.json"), JSON.stringify({ permissions: { deny } }));
    const env = { BOWLINE_HOME: join(folder.path, "home") };
    const rules = await loadPermissions({ directory, env });
    const action = (tool: string, path: string): string =>
      rules.judge({ tool, args: { path } }).action;
    assert.deepEqual(
      [
        action("read", ".env"),
        action("read", "key"),
        action("read", "x/secret"),
        action("read", "a"),
      ],
      ["deny", "deny", "deny", "allow"],
    );
    assert.equal(action("edit", "other/x"), "ask");
  });
});

describe("the suggestions for many commands", () => {
  it("name each beginning once, and none is made for more than five commands", () => {
    const rules = user({});
    const few = rules.suggest(bash("echo a; echo b; wc c"));
    assert.match(few.at(-1)?.also ?? "", /^every command that begins with "echo" or "wc", unless/);
    assert.deepEqual(rules.suggest(bash("wc a; wc b; wc c; wc d; wc e; wc f")), []);
  });
});

describe("the files that decide what may run", () => {
  it("are asked about, whatever is allowed, in any folder and letter case, and through links", async () => {
    const rules = user({ allow: ["edit", "write(**)", "*"] });
    for (const path of [
      "bowline.json",
      "./bowline.local.json",
      "BOWLINE.json",
      "sub/bowline.json",
      ".git",
      ".git/hooks/pre-commit",
      "a/.git/config",
      ".bowline/agents/x.md",
      ".claude/skills/x/SKILL.md",
      ".agents/skills/x/SKILL.md",
      "sub/../bowline.json",
    ])
      for (const tool of ["edit", "write"])
        assert.equal(rules.judge({ tool, args: { path } }).action, "ask", `${tool} ${path}`);
    assert.equal(rules.judge(edit("src/bowline.json.ts")).action, "allow");
    assert.equal(rules.judge({ tool: "read", args: { path: "bowline.json" } }).action, "allow");
    assert.deepEqual(rules.suggest(edit("bowline.json")), []);

    await using folder = await temporary();
    await mkdir(join(folder.path, ".git"));
    await symlink(join(folder.path, ".git"), join(folder.path, "harmless"));
    const placed = createPermissions({
      root: folder.path,
      sources: [{ path: "user.json", scope: "user", permissions: { allow: ["edit"] } }],
    });
    assert.equal(placed.judge(edit("harmless/config")).action, "ask");
  });
});

describe("a rule that a person adds", () => {
  it("applies at once, and is written to the file of its scope with the rest unchanged", async () => {
    await using folder = await temporary();
    const env = { BOWLINE_HOME: join(folder.path, "home") };
    const directory = join(folder.path, "project");
    await mkdir(directory);
    const local = join(directory, "bowline.local.json");
    const before = `{\n\t"model": "a/b",\n\t"permissions": {\n\t\t"allow": [\n\t\t\t"bash(ls)"\n\t\t],\n\t\t"deny": []\n\t}\n}\n`;
    await writeFile(local, before);
    const rules = await loadPermissions({ directory, env, trust: everything });
    await Promise.all([
      rules.add("bash(git log *), bash(git status)", "allow", "project"),
      rules.add("edit(src/**)", "allow", "user"),
      rules.add("bash(ls), bash(wc *)", "allow", "project"),
      rules.add("bash(pwd)", "allow", "session"),
    ]);
    assert.equal(
      await readFile(local, "utf8"),
      before.replace(
        '"bash(ls)"',
        '"bash(ls)",\n\t\t\t"bash(git log *)",\n\t\t\t"bash(git status)",\n\t\t\t"bash(wc *)"',
      ),
    );
    const own = join(folder.path, "home", "bowline.json");
    assert.deepEqual(JSON.parse(await readFile(own, "utf8")), {
      permissions: { allow: ["edit(src/**)"] },
    });
    for (const call of [bash("git status"), edit("src/a"), bash("pwd")])
      assert.equal(rules.judge(call).action, "allow");
    const again = await loadPermissions({ directory, env, trust: everything });
    assert.equal(again.judge(bash("git status && git log -1")).action, "allow");
    assert.equal(again.judge(bash("pwd")).action, "ask");
    assert.deepEqual(
      again
        .list()
        .filter(({ scope }) => scope !== "built in")
        .map(({ rule, scope }) => [rule, scope]),
      [
        ["edit(src/**)", "user"],
        ["bash(ls)", "project"],
        ["bash(git log *)", "project"],
        ["bash(git status)", "project"],
        ["bash(wc *)", "project"],
      ],
    );
  });

  it("is refused without effect if it is no rule, or its file is broken or a pipe", async () => {
    await using folder = await temporary();
    const path = join(folder.path, "bowline.json");
    const rules = createPermissions({ files: { user: path } });
    await assert.rejects(rules.add("nonsense here", "allow", "session"), RuleError);
    await assert.rejects(rules.add("bash(ls), Bash", "allow", "user"), RuleError);
    await assert.rejects(rules.add("bash(ls)", "allow", "project"), /no settings file/);
    await writeFile(path, "{ // a comment\n}");
    await assert.rejects(rules.add("bash(ls)", "allow", "user"), /is not JSON/);
    assert.equal(await readFile(path, "utf8"), "{ // a comment\n}");
    assert.equal(rules.judge(bash("ls")).action, "ask");
  });

  it("is not written through a link that a project put beside its file", async () => {
    await using folder = await temporary();
    const path = join(folder.path, "bowline.local.json");
    const victim = join(folder.path, "victim");
    await writeFile(victim, "mine");
    await symlink(victim, `${path}.new`);
    await createPermissions({ files: { project: path } }).add("bash(ls)", "allow", "project");
    assert.equal(await readFile(victim, "utf8"), "mine");
  });
});

describe("the suggestions for a call", () => {
  const rulesFor = (call: { tool: string; args: unknown }, permissions: RuleLists = {}): string[] =>
    user(permissions)
      .suggest(call)
      .map(({ rule }) => rule);

  it("are the narrowest first, and each allows the call", async () => {
    const expected: [{ tool: string; args: unknown }, string[]][] = [
      [bash("git log --oneline -5"), ["bash(git log --oneline -5)", "bash(git log *)"]],
      [bash("npm test"), ["bash(npm test)", "bash(npm test *)"]],
      [
        bash("npm run lint:fix -- src"),
        ["bash(npm run lint:fix -- src)", "bash(npm run lint:fix *)"],
      ],
      [bash("git commit -m 'a b'"), ["bash(git commit *)"]],
      [bash("wc -l a"), ["bash(wc -l a)", "bash(wc *)"]],
      [bash("git push origin"), ["bash(git push origin)"]],
      [
        bash("cd web && npm test"),
        ["bash(cd web), bash(npm test)", "bash(cd web), bash(npm test *)"],
      ],
      [edit("src/a/b.ts"), ["edit(src/a/b.ts)", "edit(src/a/**)", "edit"]],
      [edit("a.ts"), ["edit(a.ts)", "edit"]],
      [{ tool: "github__search", args: { q: 1 } }, ["github__search", "github__*"]],
    ];
    for (const [call, rules] of expected) {
      assert.deepEqual(rulesFor(call), rules);
      for (const rule of rules) {
        const permissions = user({});
        await permissions.add(rule, "allow", "session");
        assert.equal(permissions.judge(call).action, "allow", rule);
      }
    }
  });

  it("name only the parts that no rule allows yet", () => {
    assert.deepEqual(rulesFor(bash("ls a | wc -l"), { allow: ["bash(ls *)"] }), [
      "bash(wc -l)",
      "bash(wc *)",
    ]);
  });

  it("are none for programs that run others, and where a rule would not help", () => {
    const commands = [
      "env x",
      "ls | xargs rm",
      "sudo ls",
      "sh -c ls",
      "node -e 1",
      "python -c 1",
      "npx tsc",
      "find . -name a",
      "awk 1 a",
      "git -c a=b log",
      "echo $(date)",
      "git log > a",
      "sed -n 1p a",
      "ssh host ls",
    ];
    for (const command of commands) assert.deepEqual(rulesFor(bash(command)), [], command);
    assert.deepEqual(rulesFor(bash("git log"), { ask: ["bash(git *)"] }), []);
    assert.deepEqual(rulesFor(bash("git log"), { deny: ["bash"] }), []);
    assert.deepEqual(rulesFor(edit("../x")), []);
  });
});

describe("policy.json of earlier gateways", () => {
  it("is moved into the user's settings once, and rules of sessions keep a file", async () => {
    await using folder = await temporary();
    const home = join(folder.path, "gateway");
    const workspace = join(folder.path, "workspace");
    for (const path of [home, workspace]) await mkdir(path);
    const rules: PolicyRule[] = [
      { action: "allow", tool: "bash", pattern: "git log *" },
      { action: "deny", tool: "bash", pattern: "npm run x:*" },
      { action: "allow", tool: "write", pattern: "/odd" },
      { action: "allow", tool: "bash", pattern: "ls", sessionKey: "a" },
    ];
    await writeFile(join(home, "policy.json"), JSON.stringify({ rules }));
    const options = { home, workspace, env: { BOWLINE_HOME: folder.path } };
    const first = await openGatewayRules(options);
    assert.match(first.notices.join(), /are now in .*bowline\.json/);
    const second = await openGatewayRules(options);
    assert.deepEqual(second.notices, []);
    assert.deepEqual(JSON.parse(await readFile(join(folder.path, "bowline.json"), "utf8")), {
      permissions: { allow: ["bash(git log *)"], deny: ["bash(npm run x:*)"] },
    });
    assert.deepEqual(JSON.parse(await readFile(join(home, "policy.json.moved"), "utf8")), {
      rules,
    });
    for (const { rules: judged } of [first, second]) {
      const action = (command: string, sessionKey: string): string =>
        judged.judge({ tool: "bash", args: { command }, sessionKey }).action;
      assert.deepEqual(
        [
          action("git log -1", "b"),
          action("npm run x:y", "b"),
          action("ls", "a"),
          action("ls", "b"),
        ],
        ["allow", "deny", "allow", "ask"],
      );
    }
    await second.rules.add({ action: "allow", tool: "edit", pattern: "src/**" });
    await second.rules.add({ action: "allow", tool: "edit", pattern: "b", sessionKey: "b" });
    const command = await loadPermissions({ directory: workspace, env: options.env });
    assert.equal(command.judge(edit("src/x")).action, "allow");
    assert.equal(command.judge(edit("b")).action, "ask");
  });
});
