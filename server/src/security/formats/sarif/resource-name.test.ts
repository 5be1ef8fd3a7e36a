import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourceNameOf } from './result-text.ts'

const named = (fields: Partial<Parameters<typeof resourceNameOf>[0]>) =>
  resourceNameOf({ logicalName: null, snippet: null, message: '', ...fields })

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
