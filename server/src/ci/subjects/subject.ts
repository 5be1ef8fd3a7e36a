import type { SubjectItem } from './subject.schema.ts'

/** A row of a subject: itself (part 0), or the manifest of one of its platforms. */
export type SubjectRow = {
  position: number
  part: number
  name: string
  sha256: string
  media_type: string | null
  platform: string | null
}

/**
 * The rows of subjects, with the names that all spellings of an image share. What is named twice is
 * one subject.
 */
export function toSubjectRows(subjects: readonly SubjectItem[]): SubjectRow[] {
  const named = subjects.map(({ media_type = null, ...subject }) => ({
    ...subject,
    media_type,
    name: normalizeSubjectName(subject.name, media_type),
  }))
  const distinct = [...new Map(named.map((subject) => [`${subject.sha256} ${subject.name}`, subject])).values()]
  return distinct.flatMap(({ name, sha256, media_type, platforms = [] }, position) => [
    { position, part: 0, name, sha256, media_type, platform: null },
    ...platforms.map((manifest, index) => ({ position, part: index + 1, name, media_type: null, ...manifest })),
  ])
}

const IMAGE_TYPE = /^application\/vnd\.(?:oci|docker)\./
const TAG = /:[\w][\w.-]{0,127}$/
const DOCKER_HUB = /^(?:index\.|registry-1\.)?docker\.io$/

/**
 * The name of a subject. That of an image has its registry in lower case, `docker.io` and its
 * `library/` where they were left out, and neither tag nor digest (distribution reference grammar).
 */
export function normalizeSubjectName(name: string, mediaType: string | null): string {
  const slash = name.indexOf('/')
  const first = slash < 0 ? '' : name.slice(0, slash)
  // A registry has a dot or a port, or is the own machine.
  const hasRegistry = /[.:]/.test(first) || first.toLowerCase() === 'localhost'
  const isImage = mediaType === null ? hasRegistry : IMAGE_TYPE.test(mediaType)
  if (!isImage) return name
  const [path = ''] = (hasRegistry ? name.slice(slash + 1) : name).split('@', 1)
  const registry = hasRegistry ? first.toLowerCase() : 'docker.io'
  const repository = path.replace(TAG, '')
  if (!DOCKER_HUB.test(registry)) return `${registry}/${repository}`
  return `docker.io/${repository.includes('/') ? repository : `library/${repository}`}`
}
