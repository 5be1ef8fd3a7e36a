/** An OpenVEX 0.2 document. */
export function openVex(statements: object[], given: object = {}) {
  return {
    '@context': 'https://openvex.dev/ns/v0.2.0',
    '@id': 'https://acme.example/vex/1',
    author: 'Acme Security',
    timestamp: '2024-05-01T00:00:00Z',
    version: 1,
    statements,
    ...given,
  }
}

/** A statement that a package is not affected. `products` are package URLs. */
export function notAffected(vulnerability: string, products: (string | object)[], given: object = {}) {
  return {
    vulnerability: { name: vulnerability },
    products: products.map((product) => (typeof product === 'string' ? { '@id': product } : product)),
    status: 'not_affected',
    justification: 'vulnerable_code_not_in_execute_path',
    ...given,
  }
}

/** A CSAF 2.0 document of the profile VEX. `products` are package URLs by product id. */
export function csaf(products: Record<string, string>, vulnerabilities: object[], tracking: object = {}) {
  return {
    document: {
      category: 'csaf_vex',
      csaf_version: '2.0',
      title: 'Acme',
      publisher: { category: 'vendor', name: 'Acme', namespace: 'https://acme.example' },
      tracking: {
        id: 'ACME-1',
        status: 'final',
        version: '1',
        initial_release_date: '2024-05-01T00:00:00Z',
        current_release_date: '2024-05-01T00:00:00Z',
        revision_history: [{ date: '2024-05-01T00:00:00Z', number: '1', summary: 'First' }],
        ...tracking,
      },
    },
    product_tree: {
      branches: [
        {
          category: 'vendor',
          name: 'Acme',
          branches: Object.entries(products).map(([product_id, purl]) => ({
            category: 'product_version',
            name: product_id,
            product: { product_id, name: product_id, product_identification_helper: { purl } },
          })),
        },
      ],
    },
    vulnerabilities,
  }
}

/** A CycloneDX document with one vulnerability in each of these packages. */
export function vulnerable(found: Record<string, string | string[]>, tool = 'grype') {
  const entries = Object.entries(found).flatMap(([purl, ids]) => [ids].flat().map((id) => ({ purl, id })))
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    metadata: { tools: [{ name: tool }] },
    components: Object.keys(found).map((purl) => ({ type: 'library', name: purl, purl, 'bom-ref': purl })),
    vulnerabilities: entries.map(({ purl, id }) => ({ id, affects: [{ ref: purl }], ratings: [{ severity: 'high' }] })),
  }
}
