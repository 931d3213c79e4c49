import { keyBindings, sendKeys } from "../keys.ts";
import { oneLine } from "../../terminal.ts";
import type { SlashCommand } from "./command.ts";

export const help: SlashCommand = {
  name: "help",
  help: "the commands and the keys",
  run(_, chat, all) {
    const rows = all.map(({ name, takes, help: text }) => {
      const more = takes === undefined ? "" : `; takes ${takes}`;
      return [`/${name}`, text + more] as const;
    });
    const keys = [...sendKeys, ...keyBindings].map(
      ({ label, help: text }) => [label, text] as const,
    );
    const others = [
      ["!command", "run a line of the shell; the model gets its output"],
      ["!!command", "the same, kept from the model"],
      ["@file", "name a file; Tab completes"],
    ] as const;
    const width = Math.max(...[...rows, ...keys, ...others].map(([left]) => left.length));
    const lines = (pairs: readonly (readonly [string, string])[]): string[] =>
      pairs.map(([left, right]) => oneLineRow(left.padEnd(width), right));
    const groups = [
      ["Commands:", ...lines(rows)],
      ["Keys:", ...lines(keys)],
      ["Beginnings of a line:", ...lines(others)],
    ];
    chat.notice(groups.map((group) => group.join("\n")).join("\n\n"));
  },
};

function oneLineRow(left: string, right: string): string {
  return `  ${left}  ${oneLine(right, 400)}`;
}
