# Stands in for Homebrew where it is not installed: runs a formula's `install` on the unpacked tarball, then its `test`, and
# reads its `service`.
#
#   ruby formula.rb quire.rb UNPACKED PREFIX      prints what the formula says, as JSON
require "fileutils"
require "json"
require "open3"
require "pathname"

class Pathname
  def install(*files)
    mkpath
    files.flatten.each { |file| FileUtils.cp(file, self) }
  end
end

PREFIX = Pathname.new(ARGV[2])

# The words of `service do … end`.
class Service
  attr_reader :told

  def initialize = @told = {}
  def opt_bin = PREFIX / "bin"
  def var = PREFIX / "var"

  %i[run keep_alive log_path error_log_path].each do |word|
    define_method(word) { |value| @told[word] = value }
  end
end

class Formula
  FOLDERS = { bin: "bin", man1: "share/man/man1", bash_completion: "etc/bash_completion.d",
              zsh_completion: "share/zsh/site-functions", fish_completion: "share/fish/vendor_completions.d" }.freeze
  FOLDERS.each { |name, folder| define_method(name) { PREFIX / folder } }

  class << self
    attr_reader :told, :service_block, :test_block

    %i[desc homepage url version sha256 license depends_on].each do |word|
      define_method(word) { |value| (@told ||= {})[word] = value }
    end

    def service(&block) = @service_block = block

    def test(&block) = @test_block = block
  end

  attr_reader :tested

  def version = self.class.told[:version]

  # The words of `test do … end`.
  def shell_output(command)
    output, status = Open3.capture2(command)
    raise "#{command} ended with #{status.exitstatus}" unless status.success?

    output
  end

  def assert_match(wanted, text)
    raise "`#{wanted}` is not in `#{text}`" unless text.include?(wanted)

    @tested = (@tested || 0) + 1
  end
end

load File.expand_path(ARGV[0])
formula = Quire.new
Dir.chdir(ARGV[1]) { formula.install }
formula.instance_eval(&Quire.test_block)
service = Service.new
service.instance_eval(&Quire.service_block)
puts JSON.generate(Quire.told.merge(service: service.told, tested: formula.tested))
