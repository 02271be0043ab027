// A context hook in JavaScript.
const { phase, suite, test, env, vars, result } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));

const answer = (patch) => console.log(JSON.stringify(patch));

switch (phase) {
  case 'beforeAll':
    answer({ env: { RUN_ID: `run-${process.pid}` }, vars: { started: Date.now(), region: vars.region } });
    break;
  case 'beforeEach':
    if (test.name === 'needs credentials' && !process.env.API_CREDENTIALS) {
      answer({ skip: { reason: 'API_CREDENTIALS is not set' } });
    } else {
      answer({ env: { SESSION: `${env.RUN_ID}/${test.name}` } });
    }
    break;
  default:
    if (!['pass', 'fail', 'error', 'skip'].includes(result?.verdict)) {
      console.error(`${suite.name}: no verdict in ${JSON.stringify(result)}`);
      process.exit(1);
    }
}
