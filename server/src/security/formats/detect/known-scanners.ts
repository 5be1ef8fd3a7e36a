import { SCANNERS } from './scanner-files.ts'

/** One sentence on the scanner whose own JSON has these members, and how it writes a format that is read; null when it is unknown. */
export function knownScannerRefusal(members: ReadonlySet<string>): string | null {
  const fits = (shape: string) => shape.split(' & ').every((member) => members.has(member))
  const [name, advice] = SCANNERS.find(([, , shapes]) => shapes.some(fits)) ?? []
  return name === undefined ? null : `This is the JSON of ${name}, which is not read; ${advice}.`
}
