/** Returns a part of the conversation that exists once it has begun. Throws before. */
export function present<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("The conversation has not begun.");
  return part;
}
