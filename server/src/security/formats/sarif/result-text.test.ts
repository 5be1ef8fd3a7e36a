import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findResourceName, formatMessage, isCutKey, normalizeSnippet } from './result-text.ts'
import { readRule } from './rule.ts'
import { createComponent, createRun } from './sarif-run.ts'

const component = { ...createComponent(), messages: new Map([['shared', 'Shared {0}']]) }
const rule = readRule({ id: 'R', messageStrings: { default: { text: '"{0}" in {1}, {0} again, {{0}}' } } }, component)
const text = (message: unknown) => formatMessage(createRun(), message, rule)

test('a message by id comes from the rule, else from its component, with its arguments', () => {
  assert.equal(text({ id: 'default', arguments: ['x', 'y'] }), '"x" in y, x again, {0}')
  assert.equal(text({ id: 'shared', arguments: ['z'] }), 'Shared z')
  assert.equal(text({ id: 'unknown' }), null)
})

test('a placeholder without an argument is kept', () => {
  assert.equal(text({ id: 'default', arguments: ['x'] }), '"x" in {1}, x again, {0}')
})

test('a text without arguments is unchanged, including braces', () => {
  assert.equal(text({ text: 'use {{ a }} or {0}' }), 'use {{ a }} or {0}')
})

test('the placeholders of a text are replaced by its arguments', () => {
  assert.equal(text({ text: '{0}{{}}', arguments: ['x'] }), 'x{}')
})

test('a message can be a plain text', () => {
  assert.equal(text('Something is wrong'), 'Something is wrong')
})

test('a link to a location of the result becomes its text; any other link is kept', () => {
  assert.equal(text({ text: 'Depends on a [user value](1) and [another](2).' }), 'Depends on a user value and another.')
  assert.equal(text({ text: 'See [docs](https://x.example) and a[0](1)' }), 'See [docs](https://x.example) and a[0](1)')
  assert.equal(text({ id: 'shared', arguments: ['[here](3)'] }), 'Shared here')
})

test('markdown is used if there is no text', () => {
  assert.equal(text({ text: ' ', markdown: '**x**' }), '**x**')
  assert.equal(text(null), null)
})

test('a text that repeats a long argument is bounded', () => {
  const long = text({ text: '{0}'.repeat(100_000), arguments: ['x'.repeat(100_000)] })
  assert.ok((long ?? '').length <= 16 * 1024)
})

test('flagged code has no white space, and white space alone is not code', () => {
  assert.equal(normalizeSnippet('  call( a,\n\tb )\n', false), 'call(a,b)')
  assert.equal(normalizeSnippet(' \n\t', false), null)
  assert.equal(normalizeSnippet(null, true), null)
})

test('the placeholders that tools write for hidden code are not code', () => {
  for (const snippet of ['REDACTED', 'requires login']) {
    assert.equal(normalizeSnippet(snippet, false), null, snippet)
    assert.equal(normalizeSnippet(snippet, true), null, snippet)
  }
})

test('a masked secret is not flagged code; other code with asterisks is', () => {
  for (const snippet of ['********', 'password = "********"', 'key = REDACTED', 'AKIAIOSF...', 'AKIAIOSF…']) {
    assert.equal(normalizeSnippet(snippet, true), null, snippet)
    assert.notEqual(normalizeSnippet(snippet, false), null, snippet)
  }
})

test('a complete secret is flagged code', () => {
  assert.equal(normalizeSnippet('AKIAIOSFODNN7EXAMPLE', true), 'AKIAIOSFODNN7EXAMPLE')
})

test('the beginning of a private key is not compared, because many keys begin the same', () => {
  assert.equal(isCutKey('-----BEGINOPENSSHPRIVATEKEY-----b3BlbnNzaC1rZXktdjEAAAAA'), true)
  assert.equal(isCutKey('-----BEGINRSAPRIVATEKEY-----MIIC-----ENDRSAPRIVATEKEY-----'), false)
  assert.equal(isCutKey('AKIAIOSFODNN7EXAMPLE'), false)
})

const named = (fields: Partial<Parameters<typeof findResourceName>[0]>) =>
  findResourceName({ logicalName: null, snippet: null, message: '', ...fields })

test('a logical location counts first', () => {
  const snippet = 'resource "aws_s3_bucket" "data" {'
  assert.equal(named({ logicalName: 'aws_s3_bucket.logs', snippet }), 'aws_s3_bucket.logs')
})

test('the declaration in the flagged text', () => {
  const declarations: [snippet: string, name: string | null][] = [
    ['resource "aws_s3_bucket" "logs" {\n  bucket = "x"\n}', 'aws_s3_bucket.logs'],
    ['data "aws_iam_policy_document" "read" {', 'data.aws_iam_policy_document.read'],
    ['# The network.\nmodule "vpc" {\n  source = "x"', 'module.vpc'],
    [
      'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  labels:\n    name: other\n  name: web\nspec:',
      'Deployment.web',
    ],
    ['  Bucket:\n    Type: AWS::S3::Bucket\n', 'AWS::S3::Bucket.Bucket'],
    ['FROM node:24\nRUN npm ci', null],
    ['  acl = "public-read"', null],
  ]
  for (const [snippet, name] of declarations) assert.equal(named({ snippet }), name, snippet)
})

test('the resource that a message mentions', () => {
  const messages: [message: string, name: string | null][] = [
    ['aws_autoscaling_group[this].load_balancers is undefined', 'aws_autoscaling_group.this'],
    [
      'metadata.name={{nfs-server}}.spec.template.spec.containers.name={{nfs}}.securityContext is undefined',
      'nfs-server',
    ],
    ["Container 'app' of Deployment 'web' should set 'securityContext.runAsNonRoot' to true", 'Deployment.web'],
    ['container "web" has no limits (object: <no namespace>/web apps/v1, Kind=Deployment)', 'Deployment.web'],
    ["'encryption_config' is undefined or null", null],
  ]
  for (const [message, name] of messages) assert.equal(named({ message }), name, message)
})
