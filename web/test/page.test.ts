import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { policyOf } from '../one_file';

describe('the policy', () => {
  it('lets nothing run but the script and the styles', () => {
    const policy = policyOf('alert(1)', 'p {}');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`script-src 'sha256-${createHash('sha256').update('alert(1)').digest('base64')}'`);
    expect(policy).not.toContain('unsafe');
  });
});

// Built by `make web`; scripts/test-web builds it before.
describe.skipIf(!existsSync('dist/index.html'))('the built page', () => {
  const page = existsSync('dist/index.html') ? readFileSync('dist/index.html', 'utf8') : '';

  it('is one file that asks nobody for anything', () => {
    expect(page).not.toMatch(/<script[^>]*src=/);
    expect(page).not.toMatch(/<link[^>]*stylesheet/);
    expect(page).not.toMatch(/@import|url\(/);
  });
  it('has the script and the styles that its policy names', () => {
    const script = /<script type="module">([^]*?)<\/script>/.exec(page)![1];
    const style = /<style>([^]*?)<\/style>/.exec(page)![1];
    expect(page).toContain(`content="${policyOf(script, style)}"`);
    expect(readFileSync('dist/policy', 'utf8')).toBe(`${policyOf(script, style)}; frame-ancestors 'none'`);
  });
});
