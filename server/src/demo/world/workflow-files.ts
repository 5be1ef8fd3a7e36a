const CI = `name: CI
on: [push, pull_request]
jobs:
  lint:
    runs-on: ubuntu-24.04
  build:
    runs-on: ubuntu-24.04
  unit-tests:
    runs-on: ubuntu-24.04
    needs: build
  integration-tests:
    runs-on: ubuntu-24.04
    needs: build
  security-scan:
    runs-on: ubuntu-24.04
    needs: build
  package:
    runs-on: ubuntu-24.04
    needs: [lint, unit-tests, integration-tests, security-scan]
`

const DEPLOY = `name: Deploy
on:
  workflow_run:
    workflows: [CI]
jobs:
  development:
    runs-on: ubuntu-24.04
    environment: development
  staging:
    runs-on: ubuntu-24.04
    needs: development
    environment: staging
  smoke-tests:
    runs-on: ubuntu-24.04
    needs: staging
  production:
    runs-on: ubuntu-24.04
    needs: [staging, smoke-tests]
    environment: production
`

const NIGHTLY = `name: Nightly scan
on:
  schedule:
    - cron: '30 2 * * *'
jobs:
  dependencies:
    runs-on: ubuntu-24.04
  code:
    runs-on: ubuntu-24.04
  report:
    runs-on: ubuntu-24.04
    needs: [dependencies, code]
`

const FILES: Record<string, string> = {
  '.github/workflows/ci.yml': CI,
  '.github/workflows/deploy.yml': DEPLOY,
  '.github/workflows/nightly.yml': NIGHTLY,
}

/** The text of a workflow file of the fictional company; null for another path. */
export function getWorkflowFile(path: string): string | null {
  return FILES[path] ?? null
}
