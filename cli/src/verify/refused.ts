/** A document or a part of it is not accepted. The message tells the reader why. */
export class Refused extends Error {}
