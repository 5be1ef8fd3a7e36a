const PIECE = Buffer.alloc(1024 * 1024, 'x')

/** The beginning and end of a document of each format, without the elements of its main list. */
const FRAMES = {
  sarif: ['{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[', ']}]}'],
  cyclonedx: ['{"bomFormat":"CycloneDX","specVersion":"1.5","vulnerabilities":[', ']}'],
  'spdx 2': ['{"spdxVersion":"SPDX-2.3","packages":[', ']}'],
  openvex: ['{"@context":"https://openvex.dev/ns/v0.2.0","author":"x","statements":[', ']}'],
  csaf: ['{"document":{"category":"csaf_vex","csaf_version":"2.0","publisher":{"name":"x"}},"vulnerabilities":[', ']}'],
  'csaf products': [
    '{"document":{"category":"csaf_vex","csaf_version":"2.0","publisher":{"name":"x"}},"vulnerabilities":[],"product_tree":{"branches":[',
    ']}}',
  ],
  'spdx 3': ['{"@context":"https://spdx.org/rdf/3.0.1/spdx-context.jsonld","@graph":[', ']}'],
} as const

/** The elements of the main list. */
const ATTACKS: Record<string, () => Generator<string | Buffer>> = {
  *'200,000 open brackets'() {
    yield '['.repeat(200_000)
  },
  *'200,000 nested brackets'() {
    yield '['.repeat(200_000) + ']'.repeat(200_000)
  },
  *'200,000 nested objects'() {
    yield `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`
  },
  *'100 MB in one string'() {
    yield '{"id":"x","name":"'
    for (let piece = 0; piece < 100; piece++) yield PIECE
    yield '"}'
  },
  *'100 MB in one name'() {
    yield '{"'
    for (let piece = 0; piece < 100; piece++) yield PIECE
    yield '":1}'
  },
  *'a million empty objects'() {
    for (let piece = 0; piece < 100; piece++) yield '{},'.repeat(10_000)
    yield '{}'
  },
  *'a million nulls'() {
    for (let piece = 0; piece < 100; piece++) yield 'null,'.repeat(10_000)
    yield 'null'
  },
  *'a member a million times'() {
    yield '{"id":"CVE-2020-1"'
    for (let piece = 0; piece < 100; piece++) yield ',"message":{"text":"x"}'.repeat(10_000)
    yield '}'
  },
  *'a number of ten million digits'() {
    yield '{"id":"CVE-2020-1","name":'
    for (let piece = 0; piece < 100; piece++) yield '9'.repeat(100_000)
    yield '}'
  },
  *'NUL bytes'() {
    yield Buffer.alloc(1000)
  },
  *'backslashes only'() {
    yield '{"id":"x","name":"'
    for (let piece = 0; piece < 20; piece++) yield Buffer.alloc(1024 * 1024, '\\')
    yield '"}'
  },
}

type HostileReport = { name: string; open: () => AsyncGenerator<Uint8Array> }

/** Files that attack a parser. Each is generated while it is read. */
export function hostileReports(): HostileReport[] {
  return Object.entries(FRAMES).flatMap(([format, [begin, end]]) =>
    Object.entries(ATTACKS).map(([attack, elements]) => ({
      name: `${format}: ${attack}`,
      async *open() {
        yield Buffer.from(begin)
        for (const piece of elements()) yield Buffer.from(piece)
        yield Buffer.from(end)
      },
    })),
  )
}
