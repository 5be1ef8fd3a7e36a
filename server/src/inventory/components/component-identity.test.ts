import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseComponent, type StatedComponent } from './component-identity.ts'

const NOTHING: StatedComponent = {
  purl: null,
  cpe: null,
  type: 'library',
  name: null,
  version: null,
  sourceName: null,
  sourceVersion: null,
}
const parse = (purl: string, stated: Partial<StatedComponent> = {}) => parseComponent({ ...NOTHING, ...stated, purl })

/** Canonical package URL, full name and version of package URLs as tools write them. */
const PURLS: readonly [given: string, purl: string, name: string, version: string | null][] = [
  ['pkg:npm/%40angular/core@17.0.1', 'pkg:npm/%40angular/core@17.0.1', '@angular/core', '17.0.1'],
  ['pkg:npm/@angular/core@17.0.1', 'pkg:npm/%40angular/core@17.0.1', '@angular/core', '17.0.1'],
  ['pkg:npm/%40angular%2Fcore@17.0.1', 'pkg:npm/%40angular/core@17.0.1', '@angular/core', '17.0.1'],
  ['pkg:npm/JSONStream@1.3.5', 'pkg:npm/JSONStream@1.3.5', 'JSONStream', '1.3.5'],
  ['pkg:npm/lodash', 'pkg:npm/lodash', 'lodash', null],
  [
    'pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1?type=jar',
    'pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1',
    'org.apache.logging.log4j:log4j-core',
    '2.14.1',
  ],
  ['pkg:maven/a/b@1?type=war&classifier=x', 'pkg:maven/a/b@1?classifier=x&type=war', 'a:b', '1'],
  ['pkg:pypi/Ruamel.Yaml@0.17', 'pkg:pypi/ruamel-yaml@0.17', 'Ruamel.Yaml', '0.17'],
  ['pkg:pypi/torch@2.0%2Bcu118', 'pkg:pypi/torch@2.0%2Bcu118', 'torch', '2.0+cu118'],
  ['pkg:pypi/torch@2.0+cu118', 'pkg:pypi/torch@2.0%2Bcu118', 'torch', '2.0+cu118'],
  [
    'pkg:golang/github.com/Masterminds/semver/v3@v3.2.1',
    'pkg:golang/github.com/Masterminds/semver/v3@v3.2.1',
    'github.com/Masterminds/semver/v3',
    '3.2.1',
  ],
  ['pkg:golang/stdlib@go1.22.1', 'pkg:golang/stdlib@go1.22.1', 'stdlib', '1.22.1'],
  [
    'pkg:golang/google.golang.org/genproto@v0.1.0#googleapis/api/./annotations/',
    'pkg:golang/google.golang.org/genproto@v0.1.0#googleapis/api/annotations',
    'google.golang.org/genproto',
    '0.1.0',
  ],
  [
    'pkg:deb/debian/libc6@2.36-9%2Bdeb12u4?arch=amd64&distro=debian-12.5&upstream=glibc',
    'pkg:deb/debian/libc6@2.36-9%2Bdeb12u4?arch=amd64&distro=debian-12',
    'libc6',
    '2.36-9+deb12u4',
  ],
  [
    'pkg:deb/ubuntu/tar@1.34%2Bdfsg-1?distro=ubuntu-22.04.3',
    'pkg:deb/ubuntu/tar@1.34%2Bdfsg-1?distro=ubuntu-22.04',
    'tar',
    '1.34+dfsg-1',
  ],
  ['pkg:deb/debian/shadow@1:4.13', 'pkg:deb/debian/shadow@1:4.13', 'shadow', '1:4.13'],
  [
    'pkg:rpm/redhat/openssl-libs@3.0.7-25.el9?arch=x86_64&epoch=1&distro=rhel-9.3',
    'pkg:rpm/redhat/openssl-libs@3.0.7-25.el9?arch=x86_64&distro=rhel-9&epoch=1',
    'openssl-libs',
    '3.0.7-25.el9',
  ],
  ['pkg:rpm/fedora/zlib@1.2.13?epoch=0', 'pkg:rpm/fedora/zlib@1.2.13', 'zlib', '1.2.13'],
  ['pkg:apk/alpine/musl@1.2.4-r2?distro=3.19.1', 'pkg:apk/alpine/musl@1.2.4-r2?distro=alpine-3.19', 'musl', '1.2.4-r2'],
  [
    'pkg:oci/nginx@sha256%3Aabc?repository_url=docker.io/library/nginx&arch=amd64',
    'pkg:oci/nginx@sha256:abc?arch=amd64',
    'nginx',
    'sha256:abc',
  ],
  ['pkg:generic/openssl@1.1.1w?checksum=sha256:ab&download_url=x', 'pkg:generic/openssl@1.1.1w', 'openssl', '1.1.1w'],
  ['PKG:NuGet/Newtonsoft.Json@13.0.1', 'pkg:nuget/Newtonsoft.Json@13.0.1', 'Newtonsoft.Json', '13.0.1'],
  ['pkg://cargo/serde_json@1.0.0', 'pkg:cargo/serde_json@1.0.0', 'serde_json', '1.0.0'],
  ['pkg:githubactions/actions/checkout@v4', 'pkg:githubactions/actions/checkout@v4', 'actions/checkout', 'v4'],
  ['pkg:npm/a%zz@1', 'pkg:npm/a%25zz@1', 'a%zz', '1'],
]

test('a package URL has one canonical form, however it is written', () => {
  for (const [given, purl, name, version] of PURLS) {
    const found = parse(given)
    assert.deepEqual([found?.identity, found?.purl, found?.name, found?.version], ['purl', purl, name, version], given)
    // The canonical form is its own.
    assert.deepEqual(parse(purl)?.purl, purl)
  }
})

const EQUAL: readonly [string, string][] = [
  ['pkg:golang/github.com/x/y@v1.2.3', 'pkg:golang/github.com/X/y@1.2.3'],
  ['pkg:golang/std@1.22.1', 'pkg:golang/stdlib@go1.22.1'],
  ['pkg:nuget/Serilog@1', 'pkg:nuget/serilog@1'],
  ['pkg:pypi/zope.interface@5', 'pkg:pypi/Zope_Interface@5'],
  ['pkg:deb/debian/tar@1?distro=debian-12.1', 'pkg:deb/debian/tar@1?distro=debian-12.7'],
  ['pkg:apk/alpine/musl@1?distro=alpine-3.19.0', 'pkg:apk/alpine/musl@1?distro=3.19.4'],
  ['pkg:rpm/rocky/tar@1?distro=rocky-9.2', 'pkg:rpm/rocky/tar@1?distro=rocky-9'],
  ['pkg:maven/a/b@1', 'pkg:maven/a/b@1?type=jar&repository_url=x&vcs_url=y'],
]
const DIFFERENT: readonly [string, string][] = [
  ['pkg:npm/Base64@1', 'pkg:npm/base64@1'],
  ['pkg:githubactions/a/b@v4', 'pkg:githubactions/a/b@4'],
  ['pkg:maven/a/b@1', 'pkg:maven/a/b@1?classifier=sources'],
  ['pkg:deb/debian/tar@1?distro=debian-12', 'pkg:deb/debian/tar@1?distro=debian-11'],
  ['pkg:deb/debian/tar@1', 'pkg:deb/ubuntu/tar@1'],
  ['pkg:deb/debian/tar@1?arch=amd64', 'pkg:deb/debian/tar@1?arch=arm64'],
  ['pkg:deb/debian/a@1?upstream=x', 'pkg:deb/debian/a@1?upstream=y'],
  ['pkg:golang/x/y@v1', 'pkg:golang/x/y@v1#sub'],
]

test('only what identifies a package tells components apart', () => {
  for (const [one, other] of EQUAL) assert.deepEqual(parse(one)?.hash, parse(other)?.hash, `${one} ${other}`)
  for (const [one, other] of DIFFERENT) assert.notDeepEqual(parse(one)?.hash, parse(other)?.hash, `${one} ${other}`)
})

const SOURCES: readonly [purl: string, stated: Partial<StatedComponent>, string | null, string | null][] = [
  ['pkg:deb/debian/libc6@2.36-9?upstream=glibc%402.36-9', {}, 'glibc', '2.36-9'],
  ['pkg:deb/debian/libc6@2.36-9?upstream=glibc', {}, 'glibc', null],
  ['pkg:rpm/redhat/openssl-libs@3.0.7?upstream=openssl-3.0.7-25.el9.src.rpm', {}, 'openssl', '3.0.7-25.el9'],
  ['pkg:deb/debian/libc6@2.36-9', { sourceName: 'glibc', sourceVersion: '2.36' }, 'glibc', '2.36'],
  ['pkg:npm/a@1?upstream=b', { sourceName: 'b' }, null, null],
]

test('a package of a distribution has its source package, from its qualifiers or from its members', () => {
  for (const [purl, stated, name, version] of SOURCES) {
    const found = parse(purl, stated)
    assert.deepEqual([found?.source_name, found?.source_version], [name, version], purl)
  }
})

test('without a package URL, the CPE identifies a component, and without both its type and name', () => {
  const cpe = 'cpe:2.3:a:OpenSSL:openssl:1.1.1w:*:*:*:*:*:*:*'
  const found = parseComponent({ ...NOTHING, cpe, name: 'OpenSSL', version: '1.1.1w' })
  assert.deepEqual([found?.identity, found?.cpe, found?.version], ['cpe', cpe.toLowerCase(), '1.1.1w'])
  const named = parseComponent({ ...NOTHING, name: 'acme/app', version: '1', purl: 'no purl', cpe: 'cpe:/a:x' })
  assert.deepEqual([named?.identity, named?.purl, named?.name_key], ['name', null, 'app'])
  const other = parseComponent({ ...NOTHING, name: 'acme/app', version: '1', type: 'data' })
  assert.notDeepEqual(named?.hash, other?.hash)
  assert.equal(parseComponent(NOTHING), null)
  assert.equal(parse('pkg:npm/'), null)
})
