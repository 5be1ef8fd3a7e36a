import { type JsonObject, objectsOf, textOf } from '../../../platform/json/read-value.ts'
import { boundedText, PATH_MAX } from '../../vocabulary/bounded-text.ts'
import { withoutCheckout } from '../report/checkout-path.ts'
import { type Component, componentOf } from '../report/dependency-finding.ts'

/** Properties in which tools state the file that a component was found in: Trivy, cdxgen, Syft (and Grype with it). */
const PATH_PROPERTIES = ['aquasecurity:trivy:FilePath', 'SrcFile', 'syft:location:0:path']

/** What a finding needs of a component. Its group stands before its name, as in a package URL. */
export function readComponent(members: JsonObject): Component {
  const name = textOf(members.name)
  const group = textOf(members.group)
  return componentOf({
    name: name !== null && group !== null ? `${group}/${name}` : name,
    version: textOf(members.version),
    purl: textOf(members.purl),
    path: pathOf(members),
  })
}

/** The file by which the component is known to be there. Of several the first by name, because tools do not keep their order. */
function pathOf({ properties, occurrences }: JsonObject): string | null {
  const stated = objectsOf(properties)
  const candidates = [
    ...PATH_PROPERTIES.map((name) => stated.filter((property) => property.name === name).map(({ value }) => value)),
    objectsOf(occurrences).map(({ location }) => location),
  ]
  for (const values of candidates) {
    const [path] = values
      .map(textOf)
      .filter((text) => text !== null)
      .map((location) => withoutCheckout(withoutLine(location)))
      .sort()
    if (path !== undefined) return boundedText(path, PATH_MAX)
  }
  return null
}

/** cdxgen writes `src/App.java#12`. Lines are no part of a place that identifies. */
function withoutLine(location: string): string {
  return location
    .trim()
    .replaceAll('\\', '/')
    .replace(/[#:]\d{1,9}$/, '')
    .replace(/^(?:\.\/)+/, '')
}
