import type { Severity } from '../../security/vocabulary/severity.ts'
import type { DemoRepository } from './company.ts'

/** A published vulnerability of a package in `packages.ts`, as public databases describe it. */
export type Advisory = {
  id: string
  package: string
  severity: Exclude<Severity, 'info'>
  score: number
  cwe: number
  fixed: string
  title: string
}

/** One a line: id, package, severity, score, CWE, fixed version, title. */
const ADVISORY_ROWS = `
CVE-2021-44228 | org.apache.logging.log4j/log4j-core | critical | 10 | 502 | 2.17.1 | Remote code execution through JNDI lookups in log messages
CVE-2022-1471 | org.yaml/snakeyaml | critical | 9.8 | 502 | 2.0 | Deserialization of untrusted YAML runs code
CVE-2024-1597 | org.postgresql/postgresql | critical | 9.8 | 89 | 42.6.1 | SQL injection in the simple query mode
CVE-2023-44487 | io.netty/netty-codec-http2 | high | 7.5 | 400 | 4.1.100.Final | HTTP/2 rapid reset exhausts the server
CVE-2024-22262 | org.springframework/spring-web | high | 8.1 | 601 | 6.1.6 | Open redirect in URL parsing
CVE-2023-6378 | ch.qos.logback/logback-classic | high | 7.5 | 502 | 1.4.12 | Serialized data exhausts the log receiver
CVE-2023-35116 | com.fasterxml.jackson.core/jackson-databind | medium | 4.7 | 770 | 2.16.0 | Cyclic objects exhaust the stack
CVE-2024-47554 | commons-io/commons-io | medium | 4.3 | 400 | 2.14.0 | XmlStreamReader uses too much CPU time
CVE-2021-23337 | lodash | high | 7.2 | 94 | 4.17.21 | Command injection through templates
CVE-2024-39338 | axios | high | 7.5 | 918 | 1.7.4 | Server-side request forgery with path-relative URLs
CVE-2024-37890 | ws | high | 7.5 | 476 | 8.17.1 | Many request headers stop the server
CVE-2022-25883 | semver | high | 7.5 | 1333 | 7.5.2 | Regular expression denial of service
CVE-2024-45590 | body-parser | high | 7.5 | 405 | 1.20.3 | URL encoding exhausts the server
CVE-2024-45296 | path-to-regexp | high | 7.5 | 1333 | 0.1.10 | Backtracking regular expressions
CVE-2024-43796 | express | medium | 5 | 79 | 4.20.0 | Cross-site scripting in redirects
CVE-2022-23540 | jsonwebtoken | medium | 6.4 | 347 | 9.0.0 | Signature validation can be bypassed without algorithms
CVE-2023-26136 | tough-cookie | medium | 6.5 | 1321 | 4.1.3 | Prototype pollution
CVE-2024-30260 | undici | low | 3.9 | 285 | 5.28.4 | Authorization headers survive a redirect
CVE-2023-50447 | pillow | high | 8.1 | 95 | 10.2.0 | ImageMath evaluates code
CVE-2023-49083 | cryptography | high | 7.5 | 476 | 41.0.6 | Certificates in PKCS7 stop the process
CVE-2024-1135 | gunicorn | high | 8.2 | 444 | 22.0.0 | Request smuggling by Transfer-Encoding
CVE-2024-27351 | django | medium | 5.3 | 1333 | 4.2.11 | Backtracking in Truncator
CVE-2024-34064 | jinja2 | medium | 5.4 | 79 | 3.1.4 | Cross-site scripting through xmlattr keys
CVE-2024-35195 | requests | medium | 5.6 | 670 | 2.32.0 | Certificate checks stay off for a session
CVE-2023-45803 | urllib3 | medium | 4.2 | 200 | 1.26.18 | Request bodies survive a redirect
CVE-2024-27304 | github.com/jackc/pgx/v5 | critical | 9.8 | 89 | v5.5.4 | SQL injection through message size overflow
CVE-2023-39325 | golang.org/x/net | high | 7.5 | 770 | v0.17.0 | HTTP/2 rapid reset exhausts the server
CVE-2023-48795 | golang.org/x/crypto | medium | 5.9 | 354 | v0.17.0 | Prefix truncation of SSH connections
CVE-2024-24786 | google.golang.org/protobuf | medium | 5.9 | 835 | v1.33.0 | Invalid JSON never ends
CVE-2023-38545 | debian/curl | critical | 9.8 | 787 | 7.88.1-10+deb12u4 | Heap overflow in SOCKS5
CVE-2023-4863 | debian/libwebp7 | high | 8.8 | 787 | 1.2.4-0.2+deb12u1 | Heap overflow in WebP images
CVE-2023-4911 | debian/libc6 | high | 7.8 | 787 | 2.36-9+deb12u3 | Buffer overflow in the dynamic loader
CVE-2023-45853 | debian/zlib1g | critical | 9.8 | 190 | 1.3.1 | Integer overflow in minizip
CVE-2023-5363 | debian/openssl | high | 7.5 | 325 | 3.0.11-1~deb12u2 | Wrong key and IV lengths
`

export const ADVISORIES: readonly Advisory[] = splitRows(ADVISORY_ROWS).map((row) => {
  const [id, name, severity, score, cwe, fixed, title] = row as [string, string, ...string[]]
  return { id, package: name, severity, score: Number(score), cwe: Number(cwe), fixed, title } as Advisory
})

/** A weakness in code, configuration or history that a static scanner reports. */
export type Weakness = {
  rule: string
  tool: 'semgrep' | 'gitleaks' | 'checkov'
  severity: 'error' | 'warning' | 'note'
  score: number
  cwe: number
  title: string
  path: string
  line: number
  code: string
}

/** One a line: tool, rule, severity, score, CWE, title, path, line, code. */
const CODE: Record<DemoRepository['language'], Weakness[]> = {
  javascript: parseWeaknesses(String.raw`
semgrep | javascript.lang.security.audit.sqli.node-postgres-sqli | error | 8.8 | 89 | SQL query built from request data | src/orders/search.js | 42 | const rows = await db.query('select * from orders where name = ' + name)
semgrep | javascript.express.security.audit.xss.direct-response-write | warning | 6.1 | 79 | Request data is written to the response | src/routes/track.js | 77 | res.send("<h1>" + req.query.parcel + "</h1>")
semgrep | javascript.lang.security.audit.path-traversal.path-join-resolve-traversal | warning | 6.5 | 22 | A path from the request leaves the folder | src/labels/file.js | 19 | const file = path.join(LABELS, req.params.name)
semgrep | javascript.jsonwebtoken.security.jwt-hardcode | error | 7.5 | 798 | A token secret is written in the code | src/auth/tokens.js | 8 | const secret = 'change-me'
semgrep | javascript.lang.security.audit.unsafe-regex | warning | 5.3 | 1333 | A regular expression backtracks | src/address/normalize.js | 120 | const STREET = /^(\w+\s?)*$/
semgrep | javascript.express.security.cors-default-config | note | 3.1 | 942 | Every origin may read responses | src/server.js | 14 | app.use(cors())
`),
  python: parseWeaknesses(`
semgrep | python.lang.security.audit.subprocess-shell-true | error | 8.1 | 78 | A shell runs text from outside | app/export.py | 64 | subprocess.run(command, shell=True)
semgrep | python.lang.security.deserialization.pickle | error | 8.1 | 502 | pickle reads data from outside | app/cache.py | 25 | value = pickle.loads(blob)
semgrep | python.django.security.injection.tainted-sql-string | error | 8.8 | 89 | SQL query built from request data | app/reports/queries.py | 91 | cursor.execute(f"select * from visits where day = {day}")
semgrep | python.requests.security.disabled-cert-validation | warning | 6.5 | 295 | Certificates are not checked | app/carriers/client.py | 12 | requests.get(url, verify=False)
semgrep | python.lang.security.insecure-hash-algorithms | note | 3.7 | 327 | SHA-1 is used as a hash | app/etag.py | 7 | hashlib.sha1(body)
`),
  go: parseWeaknesses(`
semgrep | go.lang.security.audit.database.string-formatted-query | error | 8.8 | 89 | SQL query built with Sprintf | internal/store/products.go | 133 | db.Query(fmt.Sprintf("select * from products where sku = '%s'", sku))
semgrep | go.lang.security.audit.crypto.missing-ssl-minversion | warning | 5.9 | 327 | TLS 1.0 is accepted | cmd/server/main.go | 58 | config := &tls.Config{}
semgrep | go.lang.security.audit.net.dynamic-httptrace-clienttrace | note | 3.1 | 913 | A trace hook is chosen at run time | internal/trace/trace.go | 20 | httptrace.WithClientTrace(ctx, hook)
`),
  java: parseWeaknesses(`
semgrep | java.lang.security.audit.formatted-sql-string | error | 8.8 | 89 | SQL query built by concatenation | src/main/java/com/northlane/Ledger.java | 214 | statement.execute("select * from ledger where id = " + id);
semgrep | java.lang.security.audit.crypto.weak-hash | warning | 5.9 | 327 | MD5 is used as a hash | src/main/java/com/northlane/Signature.java | 31 | MessageDigest.getInstance("MD5")
semgrep | java.lang.security.audit.xxe.documentbuilderfactory-disallow-doctype-decl-missing | error | 7.5 | 611 | XML may load external entities | src/main/java/com/northlane/BankFile.java | 57 | DocumentBuilderFactory.newInstance().newDocumentBuilder()
semgrep | java.spring.security.audit.spring-csrf-disabled | warning | 6.5 | 352 | Cross-site request forgery protection is off | src/main/java/com/northlane/WebConfig.java | 22 | http.csrf().disable();
`),
  terraform: parseWeaknesses(`
checkov | CKV_AWS_19 | error | 7.5 | 311 | The bucket is not encrypted | terraform/storage.tf | 12 | resource "aws_s3_bucket" "labels" {
checkov | CKV_AWS_24 | error | 8.6 | 284 | SSH is open to every address | terraform/network.tf | 40 | cidr_blocks = ["0.0.0.0/0"]
checkov | CKV_AWS_79 | warning | 5.3 | 918 | The metadata service accepts version 1 | terraform/workers.tf | 18 | resource "aws_instance" "worker" {
checkov | CKV_K8S_20 | warning | 6.3 | 269 | Containers may gain privileges | kubernetes/indexer.yaml | 33 | allowPrivilegeEscalation: true
checkov | CKV_K8S_43 | note | 2.6 | 345 | The image has no digest | kubernetes/indexer.yaml | 24 | image: registry.example.com/northlane/indexer:latest
`),
}

const SECRETS = parseWeaknesses(`
gitleaks | generic-api-key | error | 9.1 | 798 | A carrier API key is in the repository | config/carriers.json | 9 | "apiKey": "example-key-that-opens-nothing"
gitleaks | private-key | error | 9.1 | 321 | A private key is in the repository | test/fixtures/signing.pem | 1 | -----BEGIN EXAMPLE PRIVATE KEY-----
`)

/** The weaknesses of a repository that static scanners report. */
export function getWeaknesses(name: string, language: DemoRepository['language']): Weakness[] {
  const secrets =
    name === 'checkout' || name === 'data-pipeline' ? SECRETS : name === 'notifications' ? SECRETS.slice(1) : []
  return [...CODE[language], ...secrets]
}

function parseWeaknesses(rows: string): Weakness[] {
  return splitRows(rows).map((row) => {
    const [tool, rule, severity, score, cwe, title, path, line, code] = row
    const numbers = { score: Number(score), cwe: Number(cwe), line: Number(line) }
    return { rule, tool, severity, title, path, code, ...numbers } as Weakness
  })
}

function splitRows(rows: string): string[][] {
  return rows
    .trim()
    .split('\n')
    .map((row) => row.split(' | '))
}
