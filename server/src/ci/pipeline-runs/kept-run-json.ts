const BYTES_MAX = 32 * 1024 * 1024

type Version = { id: string; version: string | null }
type Kept = { version: string; json: Buffer }

/** The JSON of runs that were read last, in UTF-8, in this process. */
export class KeptRunJson {
  readonly #runs = new Map<string, Kept>()
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  /** Undefined unless this version of the run is kept. */
  find(orgId: string, { id, version }: Version): Buffer | undefined {
    const kept = this.#runs.get(formatKey(orgId, id))
    return kept?.version === version ? kept.json : undefined
  }

  /** Drops what was kept first if there is no room. A run without a version is not kept. */
  keep(orgId: string, { id, version }: Version, json: Buffer): void {
    if (version === null) return
    this.#drop(formatKey(orgId, id))
    this.#runs.set(formatKey(orgId, id), { version, json })
    this.#bytes += json.length
    for (const key of this.#runs.keys()) {
      if (this.#bytes <= this.#bytesMax) return
      this.#drop(key)
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#runs.get(key)?.json.length ?? 0
    this.#runs.delete(key)
  }
}

function formatKey(orgId: string, id: string): string {
  return `${orgId} ${id}`
}
