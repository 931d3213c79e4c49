/** Everyday requests in many voices, with what the answer must hold: a pair of halves, for a change and for its measure. */
export const FILES: Readonly<Record<string, string>> = {
  "README.md": "# Kettle\n\nBoils water for tea.\nWritten by Ada.\n",
  "package.json":
    '{\n  "name": "kettle",\n  "version": "1.4.2",\n  "license": "MIT",\n  "type": "module",\n  "scripts": { "test": "node --test" }\n}\n',
  "notes.txt": "buy milk\ncall Bob\nclean the kettle\npay rent\nsleep\n",
  "my list.txt": "one\ntwo\n",
  "data.csv": `id,value\n${"1".repeat(3000)}\n`,
  "src/boil.js": "// Boils.\nexport const boil = 1; // TODO: measure\n",
  "src/pour.js": "// Pours.\nexport const pour = 2;\nconsole.log(pour);\n",
  "src/lib/heat.ts": "// FIXME: too hot\nexport const heat = 3;\n",
  "docs/guide.md": "# Guide\n\na\nb\nc\nd\ne\nf\ng\nh\n",
  "docs/faq.md":
    "# Questions\n\nWhy does the kettle whistle? It boils, and says so to whoever listens.\n",
};

const TODO = /`TODO` occurs 1 time/;
const KETTLE = /`kettle` occurs/;
const NONE = /does not occur/;
const NOTES = /buy milk\ncall Bob\nclean the kettle\npay rent\nsleep/;
const SHORT = /^# Kettle|# Kettle\n\nBoils/m;
const MOST_LINES = /docs\/guide\.md is the \w+(?: \w+)?, with 10 lines/;
const BIGGEST = /data\.csv is the \w+(?: \w+)?, with 3010 bytes/;
const SECOND = /lines 2 to 2 of 5:\n\n```\ncall Bob\n/;
const FIRST_TWO = /lines 1 to 2 of 5:\n\n```\nbuy milk\ncall Bob\n```/;
const LAST_TWO = /lines 4 to 5 of 5:\n\n```\npay rent\nsleep\n```/;
const TEN = /There are 10 files in this folder/;
const VERSION = /version.*1\.4\.2/;
const CREATED = /^Created /;

/** [what is typed, what the answer matches] */
export type Phrasing = readonly [typed: string, answer: RegExp];

export const developed: readonly Phrasing[] = [
  // Searching
  ["where does it say TODO", TODO],
  ["which files mention kettle?", /`kettle` occurs.* of 4 files/],
  ["does notes.txt say anything about rent?", /`rent` occurs 1 time in notes.txt/],
  ["look for FIXME please", /`FIXME` occurs 1 time/],
  ["any TODOs in src?", TODO],
  ["are there any todos left?", TODO],
  ['find "call Bob"', /`call Bob` occurs 1 time/],
  ["find the word kettle in docs", /`kettle` occurs 1 time in docs/],
  ["can you search notes.txt for milk", /`milk` occurs 1 time in notes.txt/],
  ["where is the word Bob", /`Bob` occurs 1 time/],
  ["what files contain the word boil?", /`boil` occurs/],
  ["is there anything about coffee in README.md?", NONE],
  ["show me all lines with kettle in notes.txt", /`kettle` occurs 1 time in notes.txt/],
  ["is Bob mentioned in notes.txt", /`Bob` occurs 1 time in notes.txt/],
  ["grep -r TODO src", TODO],
  ["i'm looking for the word milk", /`milk` occurs 1 time/],
  // Counting
  ["how many js files are there in total?", /There are 2 `\*\.js` files/],
  ["how many JavaScript files do I have", /There are 2 `\*\.js` files/],
  ["number of files", TEN],
  ["how many files altogether", TEN],
  ["count markdown files pls", /There are 3 `\*\.md` files/],
  ["whats the number of text files here?", /There are 2 `\*\.txt` files/],
  ["how many files are there in the src folder in total", /There are 3 files in src/],
  ["so how many files have i got", TEN],
  // Superlatives
  ["which file has the most lines?", MOST_LINES],
  ["longest file?", MOST_LINES],
  ["what's the longest file in src", /src\/pour\.js is the longest, with 3 lines/],
  ["biggest file here", BIGGEST],
  ["which markdown file is the biggest?", /docs\/faq\.md is the biggest/],
  ["shortest md file", /docs\/faq\.md is the shortest, with 3 lines/],
  ["which js file has the fewest lines", /src\/boil\.js is the \w+(?: \w+)?, with 2 lines/],
  ["which one is the smallest file in docs?", /docs\/guide\.md is the smallest/],
  ["whats the biggest javascript file", /src\/pour\.js is the biggest/],
  ["which file takes up the most space?", BIGGEST],
  // Parts
  ["first 2 lines of notes.txt", FIRST_TWO],
  ["show the top 2 lines of notes.txt", FIRST_TWO],
  ["give me the last two lines from notes.txt", LAST_TWO],
  ["line 2 of notes.txt", SECOND],
  ["what does line 2 of notes.txt say?", SECOND],
  ["show me the end of notes.txt", /sleep\n```/],
  ["head notes.txt", NOTES],
  ["tail -n 2 notes.txt", LAST_TWO],
  ["how does notes.txt start?", /buy milk/],
  ["what's the last line of notes.txt?", /lines 5 to 5 of 5/],
  ["display lines 1-2 of notes.txt", FIRST_TWO],
  // What a file says
  ["whats in notes.txt", NOTES],
  ["cat notes.txt", NOTES],
  ["pls show notes.txt thx", NOTES],
  ["could you open 'notes.txt' for me?", NOTES],
  ["I'd like to see notes.txt", NOTES],
  ["contents of notes.txt", NOTES],
  ["shwo me notes.txt", NOTES],
  ["opne the file notes.txt please", NOTES],
  ['hi, what does "my list.txt" say?', /one\ntwo/],
  ["can i see what is in notes.txt", NOTES],
  ["what's written in README.md", SHORT],
  ["print out the readme", SHORT],
  ["let me see the contents of the file notes.txt", NOTES],
  // Facts
  ["what version is in package.json?", VERSION],
  ["whats the version in package.json", VERSION],
  ["what is the license in package.json?", /license.*MIT/],
  // Creating
  ["create a file hello.txt that says hello world", CREATED],
  ["make hello.txt with the text 'hi there'", CREATED],
  ['create hello.txt and put "hi there" in it', CREATED],
  ["please make a new file named hello.txt containing hello", CREATED],
  ['I\'d like a file called hello.txt with "hi" in it', CREATED],
  ['mkae a file hello.txt with the content "x"', CREATED],
  // Other
  ["list all js files", /src\/boil\.js\n- src\/pour\.js/],
  ["what files are here?", /- README\.md/],
  ["how many lines in notes.txt?", /notes\.txt has 5 lines/],
];

export const measured: readonly Phrasing[] = [
  // Searching
  ["where can i find TODO", TODO],
  ["in which files does the word kettle appear?", /`kettle` occurs.* of 4 files/],
  ["does the README say anything about tea?", /`tea` occurs 1 time/],
  ["look for the word FIXME in all files", /`FIXME` occurs 1 time/],
  ["is there a TODO anywhere?", TODO],
  ["do we have any FIXMEs?", /`FIXME` occurs 1 time/],
  ["which files have 'kettle' in them", KETTLE],
  ["search docs for whistle", /`whistle` occurs 1 time in docs/],
  ["what does notes.txt say about Bob?", /`Bob` occurs 1 time in notes.txt/],
  ['where\'s "pay rent" written?', /`pay rent` occurs 1 time/],
  ["list the files that include the word kettle", KETTLE],
  ["does anything mention coffee?", NONE],
  ["show every line in notes.txt that contains milk", /`milk` occurs 1 time in notes.txt/],
  ["is the word sleep in notes.txt?", /`sleep` occurs 1 time in notes.txt/],
  ["serach for kettle in README.md", /`kettle` occurs 1 time in README.md/],
  ["find me the TODOs", TODO],
  // Counting
  ["how many .js files have we got altogether", /There are 2 `\*\.js` files/],
  ["count the typescript files", /There is 1 `\*\.ts` file/],
  ["total number of files please", TEN],
  ["how many files are in here in total?", TEN],
  ["hey, how many md files do i have in docs", /There are 2 `\*\.md` files in docs/],
  ["how many .txt files exist?", /There are 2 `\*\.txt` files/],
  ["what is the total number of files in src", /There are 3 files in src/],
  ["how many files does this project have?", TEN],
  // Superlatives
  ["what file has the most lines", MOST_LINES],
  ["which is the longest file?", MOST_LINES],
  [
    "which file in src has the most lines of code?",
    /src\/pour\.js is the \w+(?: \w+)?, with 3 lines/,
  ],
  ["the largest file please", BIGGEST],
  ["biggest .md file in docs?", /docs\/faq\.md is the biggest/],
  ["what's the shortest markdown file", /docs\/faq\.md is the shortest, with 3 lines/],
  [
    "find the file with the fewest lines in docs",
    /docs\/faq\.md is the \w+(?: \w+)?, with 3 lines/,
  ],
  ["tell me which file is smallest", /my list\.txt is the smallest/],
  ["name the largest js file in src", /src\/pour\.js is the largest/],
  ["which file is the biggest in bytes?", BIGGEST],
  // Parts
  ["top 2 lines of notes.txt", FIRST_TWO],
  ["can you print the first two lines in notes.txt", FIRST_TWO],
  ["last 2 lines of notes.txt pls", LAST_TWO],
  ["whats on line 2 in notes.txt", SECOND],
  ["show me line number 2 of notes.txt", SECOND],
  ["show the beginning of notes.txt", /buy milk/],
  ["head -2 notes.txt", FIRST_TWO],
  ["tail of notes.txt", /sleep\n```/],
  ["how does notes.txt end", /sleep\n```/],
  ["the first line of notes.txt?", /lines 1 to 1 of 5/],
  ["lines 1 to 2 from notes.txt", FIRST_TWO],
  // What a file says
  ["what is inside notes.txt?", NOTES],
  ["show notes.txt", NOTES],
  ["print 'notes.txt'", NOTES],
  ["hi! can you read me notes.txt?", NOTES],
  ["I want to see the contents of notes.txt", NOTES],
  ["notes.txt contents", NOTES],
  ["prnt notes.txt", NOTES],
  ["raed notes.txt", NOTES],
  ['whats inside "my list.txt"?', /one\ntwo/],
  ["give me notes.txt", NOTES],
  ["what does the readme say", SHORT],
  ["dump notes.txt", NOTES],
  ["would you mind showing me notes.txt?", NOTES],
  // Facts
  ["which version does package.json have?", VERSION],
  ["what's the name in package.json?", /name.*kettle/],
  ["tell me the license from package.json", /license.*MIT/],
  // Creating
  ["make a file named hello.txt with the words good morning", CREATED],
  ["create a text file hello.txt saying 'hi there'", CREATED],
  ['write a file hello.txt containing "hi there"', CREATED],
  ['put "hi there" in a new file called hello.txt', CREATED],
  ["could you create hello.txt with hello in it?", CREATED],
  ["creat a file called hello.txt with the text hi", CREATED],
  // Other
  ["show me all the markdown files", /docs\/faq\.md\n- docs\/guide\.md/],
  ["which files are in src", /src\/boil\.js/],
  ["number of lines in notes.txt", /notes\.txt has 5 lines/],
];
