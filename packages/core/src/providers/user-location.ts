/** Where the user is, to make search results fit. All fields are optional. */
export interface UserLocation {
  readonly city?: string | undefined;
  /** Two letters, such as `DE`. */
  readonly country?: string | undefined;
  readonly region?: string | undefined;
  /** An IANA name, such as `Europe/Berlin`. */
  readonly timezone?: string | undefined;
}

/** Returns the field of a web search, or nothing if the location is not given. */
export function locationField(location: unknown): {
  readonly user_location?: { readonly type: "approximate" } & UserLocation;
} {
  if (location === undefined) return {};
  return { user_location: { type: "approximate", ...(location as UserLocation) } };
}
