// Answers with the text that the test holds: only the judge is a model.
module.exports = class {
  id() {
    return 'system-a';
  }
  async callApi(prompt, context) {
    return { output: context.vars.answer };
  }
};
