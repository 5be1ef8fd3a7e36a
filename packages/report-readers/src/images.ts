import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'

/** A container image as a subject of a report or gate. */
export type ImageSubject = {
  name: string
  sha256: string
  media_type?: string
  platforms?: { sha256: string; platform: string }[]
}

/** A text that does not name an image by digest. */
export class ImageError extends Error {
  constructor(text: string) {
    super(`"${text}" is not an image with its digest, such as registry.example.com/app@sha256:…`)
    this.name = 'ImageError'
  }
}

const REFERENCE = /^([a-z0-9][^@\s]{0,299})@sha256:([0-9a-f]{64})$/i
const PLATFORMS_MAX = 50

/** The image of a reference with a digest. Throws an `ImageError` for any other text. */
export function parseImage(text: string): ImageSubject {
  const [, name, sha256] = REFERENCE.exec(text.trim()) ?? []
  if (name === undefined || sha256 === undefined) throw new ImageError(text)
  return { name, sha256: sha256.toLowerCase() }
}

/**
 * Images with the manifests of their platforms, as the registry has them, if Docker with Buildx can
 * ask it. Reports of scanners name the manifest of one platform, deployments often the index.
 */
export async function readImages(references: readonly string[]): Promise<ImageSubject[]> {
  const images = references.map(parseImage)
  return Promise.all(images.map(async (image) => ({ ...image, ...parseIndex(await inspect(image), image.sha256) })))
}

const INSPECT_MS_MAX = 30_000
const INDEX_BYTES_MAX = 4 * 1024 * 1024

/** The manifest or index of an image; null if Docker is missing or has no access to it. */
function inspect({ name, sha256 }: ImageSubject): Promise<Buffer | null> {
  const args = ['buildx', 'imagetools', 'inspect', '--raw', `${name}@sha256:${sha256}`]
  const limits = { timeout: INSPECT_MS_MAX, maxBuffer: INDEX_BYTES_MAX, encoding: 'buffer' } as const
  return new Promise((resolve) =>
    execFile('docker', args, limits, (error, stdout) => resolve(error === null ? stdout : null)),
  )
}

type IndexEntry = { digest?: unknown; platform?: { os?: unknown; architecture?: unknown; variant?: unknown } }

/**
 * What an image index says of its platforms (OCI image specification, "Image Index"). Nothing for
 * bytes that do not have the digest.
 */
export function parseIndex(bytes: Buffer | null, sha256: string): Partial<ImageSubject> {
  if (bytes === null) return {}
  if (createHash('sha256').update(bytes).digest('hex') !== sha256) return {}
  const { mediaType, manifests } = JSON.parse(bytes.toString()) as { mediaType?: unknown; manifests?: unknown }
  const entries = Array.isArray(manifests) ? (manifests as IndexEntry[]) : []
  const platforms = entries.flatMap(({ digest, platform }) => {
    const [, own] = /^sha256:([0-9a-f]{64})$/.exec(String(digest)) ?? []
    const words = [platform?.os, platform?.architecture, platform?.variant].filter((word) => typeof word === 'string')
    // Buildx marks attestations with the platform unknown/unknown.
    return own === undefined || words.length < 2 || words[0] === 'unknown'
      ? []
      : [{ sha256: own, platform: words.join('/') }]
  })
  return {
    ...(typeof mediaType === 'string' && { media_type: mediaType }),
    ...(platforms.length > 0 && { platforms: platforms.slice(0, PLATFORMS_MAX) }),
  }
}
