import { oneLine } from '../../page/reported-text.ts'

type Place = {
  location: { path: string; start_line: number | null; end_line?: number | null } | null
  package_name: string | null
  package_version: string | null
  resource_name: string | null
}

const LENGTH_MAX = 200

/** Where a problem is, in a few words: the package, the file or the resource. */
export function placeText({ location, package_name, package_version, resource_name }: Place): string | null {
  if (package_name !== null)
    return oneLine(package_version === null ? package_name : `${package_name} ${package_version}`, LENGTH_MAX)
  if (location !== null) return locationText(location)
  return resource_name === null ? null : oneLine(resource_name, LENGTH_MAX)
}

/** A file with its lines: `src/a.ts:3-5`. */
export function locationText({ path, start_line: start, end_line: end }: NonNullable<Place['location']>): string {
  if (start === null) return oneLine(path, LENGTH_MAX)
  const lines = end === undefined || end === null || end === start ? `${start}` : `${start}-${end}`
  return `${oneLine(path, LENGTH_MAX)}:${lines}`
}
