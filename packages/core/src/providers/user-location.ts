/** Where the user is, to make search results fit. All fields are optional. */
export interface UserLocation {
  readonly city?: string | undefined;
  /** Two letters, such as `DE`. */
  readonly country?: string | undefined;
  readonly region?: string | undefined;
  /** An IANA name, such as `Europe/Berlin`. */
  readonly timezone?: string | undefined;
}
