// The model of scripts/day.mjs: it chooses each answer by the last message of the request, so it can
// only go on when the tools have really found what it needs.

/** The function that the bug was put into, as it must read. */
export const right = `if ((/^0x[0-9a-f]+$/i).test(x)) { return true; }`;
export const wrong = `if ((/^0x[0-9]+$/i).test(x)) { return true; }`;

const newTest = `
test('hexadecimal numbers in any case', function (t) {
	var argv = parse(['--a', '0xff', '--b', '0XFF']);
	t.deepEqual(argv, { a: 255, b: 255, _: [] });
	t.end();
});
`;
const lastTest = `test('already a number', function (t) {`;

const changelog = `Here is the entry for \`CHANGELOG.md\`:

### Fixed

- Hexadecimal numbers with letters are numbers again. \`--hex 0xdeadbeef\` gives \`3735928559\`, not the string
  \`"0xdeadbeef"\`. The pattern in \`isNumber\` had lost \`a-f\`, so only such numbers as \`0x10\` were recognised.

### Tests

- \`test/num.js\` now has hexadecimal numbers in both cases. Before, a single assertion covered them, and it used
  lower case only.

### For users

- Whoever worked around the fault with \`Number(argv.hex)\` can keep that: it returns a number unchanged.
- Options that must stay strings are named in \`opts.string\`, as before. \`parse(args, { string: ["hex"] })\` still
  gives \`"0xdeadbeef"\`.
- Nothing else changes: decimal numbers, exponents and signs go through the other pattern.

That is all of it.`;

/** The first rule whose pattern matches the last message gives the answer. */
const rules = [
  [
    /npm test fails/,
    [
      { thinking: "I should see the failure myself before I read any code.", rate: 60 },
      { text: "I run the tests first." },
      { call: "bash", args: { command: "npm test" } },
    ],
  ],
  [
    /^not ok/m,
    [
      {
        text: "Of the tests in `num.js`, those of hexadecimal numbers fail: `--hex 0xdeadbeef` stays a string. I look for the place that decides what a number is.",
        rate: 200,
      },
      { call: "grep", args: { pattern: "isNumber", path: "index.js" } },
    ],
  ],
  [
    /index\.js:\d+:.*function isNumber/,
    [{ call: "read", args: { path: "index.js", offset: 10, limit: 10 } }],
  ],
  [
    /0x\[0-9\]\+/,
    [
      {
        text: "The pattern for hexadecimal numbers accepts the digits 0 to 9 only. The letters are missing.",
        rate: 200,
      },
      { call: "edit", args: { path: "index.js", oldText: wrong, newText: right } },
    ],
  ],
  [/index\.js/, [{ call: "bash", args: { command: "npm test" } }]],
  [
    /add a test/,
    [
      { text: "Yes, in both cases.", rate: 200 },
      {
        call: "edit",
        args: {
          path: "test/num.js",
          oldText: lastTest,
          newText: newTest.trimStart() + "\n" + lastTest,
        },
      },
    ],
  ],
  [/test\/num\.js/, [{ call: "bash", args: { command: "npm test" } }]],
  [
    /^# pass {2}153$/m,
    [
      {
        text: "All 153 tests pass again. One line was the whole fault: `0x[0-9]+` matches `0x10` and not `0xff`, so a number with letters stayed a string.",
        rate: 25,
      },
    ],
  ],
  [
    /^# ok/m,
    [
      {
        text: `All tests pass.

| where | before | now |
| ----- | ------ | --- |
| \`index.js\`    | \`/^0x[0-9]+$/i\`      | \`/^0x[0-9a-f]+$/i\`    |
| \`test/num.js\` | one number, lower case | both cases          |

- [x] the pattern has its letters again
- [x] a test for \`0xff\` and \`0XFF\`
- [ ] an entry in \`CHANGELOG.md\`, if you want one

The \`i\` at the end of the pattern was right all along, which is why nobody missed the upper case.`,
        rate: 250,
      },
    ],
  ],
  [
    /every test file/,
    [
      { text: "I count the assertions of each file.", rate: 200 },
      {
        call: "bash",
        args: {
          command: `for f in test/*.js; do echo "$f $(grep -c 't\\.' $f)"; sleep 0.4; done`,
        },
      },
    ],
  ],
  [/changelog entry/, [{ text: changelog, rate: 70 }]],
  [/go on/, [{ text: changelog.slice(changelog.indexOf("### For users")), rate: 400 }]],
  [
    /README[^]*\n# /,
    [
      {
        text: "The README does not mention hexadecimal numbers, so there is nothing to correct.",
        rate: 200,
      },
    ],
  ],
];

export function answerTo({ last }) {
  const [, steps] = rules.find(([pattern]) => pattern.test(last));
  return steps;
}
