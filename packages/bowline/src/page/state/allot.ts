/**
 * Divides `max` bytes among images. Images that fit keep their size, and the others share the rest
 * equally. `isFixed` images cannot shrink. Returns undefined if the space is too small; an image
 * that shrinks needs at least `least` bytes.
 */
export function allot(
  images: readonly { readonly bytes: number; readonly isFixed: boolean }[],
  max: number,
  least: number,
): number[] | undefined {
  const rooms = images.map(({ bytes, isFixed }) => (isFixed ? bytes : 0));
  let left = max - rooms.reduce((sum, bytes) => sum + bytes, 0);
  if (left < 0) return undefined;
  const others = [...images.entries()].filter(([, { isFixed }]) => !isFixed);
  const smallestFirst = others.toSorted(([, one], [, two]) => one.bytes - two.bytes);
  for (const [place, [index, { bytes }]] of smallestFirst.entries()) {
    const share = Math.floor(left / (smallestFirst.length - place));
    const room = Math.min(bytes, share);
    if (room < bytes && room < least) return undefined;
    rooms[index] = room;
    left -= room;
  }
  return rooms;
}
