// Puts the script and the styles into the page, so that it is one file, and writes what the page may do: its
// Content-Security-Policy names the script and the styles by their hash, so nothing else runs in it.
import { createHash } from 'node:crypto';

import type { Plugin } from 'vite';

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export function policyOf(script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

export function oneFile(): Plugin {
  return {
    name: 'one-file',
    enforce: 'post',
    generateBundle(_, bundle) {
      let script = '';
      let style = '';
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === 'chunk') script += part.code;
        else if (name.endsWith('.css')) style += part.source;
        else continue;
        delete bundle[name];
      }
      // What would end the element inside of it.
      script = script.trim().replaceAll('</script', '<\\/script');
      const policy = policyOf(script, style);
      const page = bundle['index.html'];
      if (page?.type !== 'asset') throw new Error('there is no index.html');
      page.source = String(page.source)
        .replace(/\s*<script[^>]*src=[^>]*><\/script>/, '')
        .replace(/\s*<link[^>]*rel="stylesheet"[^>]*>/, '')
        .replace(
          '<!-- head -->',
          () =>
            `<meta http-equiv="Content-Security-Policy" content="${policy}">\n    <style>${style}</style>`,
        )
        .replace('<!-- script -->', () => `<script type="module">${script}</script>`);
      // The header may say one thing more than the page: who may frame it.
      this.emitFile({
        type: 'asset',
        fileName: 'policy',
        source: `${policy}; frame-ancestors 'none'`,
      });
    },
  };
}
