/** A package of the fictional repositories, by its package URL. */
export type DemoPackage = { type: 'npm' | 'maven' | 'pypi' | 'golang' | 'deb'; name: string; version: string }

const NPM: DemoPackage[] = [
  ['express', '4.19.2'],
  ['body-parser', '1.20.2'],
  ['lodash', '4.17.20'],
  ['axios', '1.6.0'],
  ['ws', '8.16.0'],
  ['semver', '7.5.1'],
  ['react', '18.3.1'],
  ['react-dom', '18.3.1'],
  ['zod', '3.23.8'],
  ['pino', '9.2.0'],
  ['undici', '5.28.3'],
  ['jsonwebtoken', '8.5.1'],
  ['tough-cookie', '4.1.2'],
  ['path-to-regexp', '0.1.7'],
].map(([name, version]) => ({ type: 'npm', name: name as string, version: version as string }))

const MAVEN: DemoPackage[] = [
  ['org.springframework/spring-web', '6.1.5'],
  ['org.springframework/spring-core', '6.1.5'],
  ['com.fasterxml.jackson.core/jackson-databind', '2.15.2'],
  ['org.apache.logging.log4j/log4j-core', '2.14.1'],
  ['org.yaml/snakeyaml', '1.33'],
  ['ch.qos.logback/logback-classic', '1.4.11'],
  ['org.postgresql/postgresql', '42.6.0'],
  ['io.netty/netty-codec-http2', '4.1.99.Final'],
  ['commons-io/commons-io', '2.13.0'],
].map(([name, version]) => ({ type: 'maven', name: name as string, version: version as string }))

const PYPI: DemoPackage[] = [
  ['django', '4.2.10'],
  ['requests', '2.31.0'],
  ['jinja2', '3.1.3'],
  ['cryptography', '41.0.5'],
  ['pyyaml', '6.0.1'],
  ['urllib3', '1.26.17'],
  ['sqlalchemy', '2.0.29'],
  ['gunicorn', '21.2.0'],
  ['pillow', '10.0.0'],
].map(([name, version]) => ({ type: 'pypi', name: name as string, version: version as string }))

const GOLANG: DemoPackage[] = [
  ['golang.org/x/net', 'v0.16.0'],
  ['golang.org/x/crypto', 'v0.16.0'],
  ['google.golang.org/grpc', 'v1.58.2'],
  ['github.com/jackc/pgx/v5', 'v5.5.3'],
  ['github.com/go-chi/chi/v5', 'v5.0.12'],
  ['google.golang.org/protobuf', 'v1.32.0'],
].map(([name, version]) => ({ type: 'golang', name: name as string, version: version as string }))

const IMAGE: DemoPackage[] = [
  ['openssl', '3.0.11-1'],
  ['zlib1g', '1.2.13'],
  ['libc6', '2.36-9'],
  ['curl', '7.88.1-10'],
  ['libwebp7', '1.2.4-0.2'],
].map(([name, version]) => ({ type: 'deb', name: `debian/${name}`, version: version as string }))

const OF: Record<string, DemoPackage[]> = {
  checkout: [...NPM, ...IMAGE],
  'web-storefront': [...NPM, ...IMAGE],
  'mobile-gateway': NPM,
  'shared-ui': NPM.slice(5),
  payments: [...MAVEN, ...IMAGE],
  'legacy-billing': MAVEN,
  identity: [...PYPI, ...IMAGE],
  notifications: PYPI,
  'data-pipeline': PYPI,
  'catalog-api': [...GOLANG, ...IMAGE],
  'search-indexer': GOLANG,
}

/** The packages of a repository. */
export function getComponents(repository: string): readonly DemoPackage[] {
  return OF[repository] ?? []
}

export function formatPurl({ type, name, version }: DemoPackage): string {
  return `pkg:${type}/${name}@${version}`
}
