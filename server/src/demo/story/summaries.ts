type Tests = {
  passed: number
  failed: number
  lines: number | null
  failures: readonly { suite: string; name: string; message: string }[]
}

type Counts = { critical: number; high: number; medium: number; low: number }

/** Summaries of jobs in Markdown, as CI systems show them. */
export const SUMMARIES = {
  tests(repository: string, { passed, failed, lines, failures }: Tests): string {
    const rows = failures.map(({ suite, name, message }) => `| ${suite} | ${name} | \`${message}\` |`)
    const failed_ = rows.length > 0 ? ['', '| Suite | Test | Message |', '|---|---|---|', ...rows] : []
    const coverage = lines === null ? [] : ['', `Line coverage: **${lines} %** (threshold 70 %)`]
    const state = failed === 0 ? `**${passed}** tests passed.` : `**${failed}** of ${passed + failed} tests failed.`
    return [`## Tests of \`${repository}\``, '', state, ...failed_, ...coverage].join('\n')
  },

  package(repository: string, components: number, { critical, high, medium, low }: Counts): string {
    return [
      `## Image \`registry.example.com/northlane/${repository}\``,
      '',
      '| | |',
      '|---|---|',
      '| Base image | `debian:13-slim` |',
      `| Components | ${components} |`,
      `| Vulnerabilities | ${critical} critical, ${high} high, ${medium} medium, ${low} low |`,
      '',
      '- [x] Signed',
      '- [x] Bill of materials attached',
    ].join('\n')
  },

  smoke(repository: string, environment: string): string {
    return `### Smoke tests on ${environment}\n\n\`${repository}\` answered all 18 requests. The slowest took 212 ms.`
  },

  notes(repository: string, sha: string): string {
    return `# ${repository} ${sha.slice(0, 12)}\n\n- Built from \`${sha}\`\n- Replaces the previous version without downtime\n`
  },
}
